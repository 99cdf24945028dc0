/** A second scorer: exports to ONNX, computed by ONNX Runtime in a page. */
export { findOnnxExport, hasOnnxExport, type OnnxExport } from "./export.ts";
export { type OnnxRuntime, OnnxScorer, type OpenOnnxOptions } from "./scorer.ts";
