export { countOf, plural } from "../../core/plural.ts";
