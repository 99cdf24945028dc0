import type { Backend } from "../backend.ts";
import { checkJoinColumns, checkSplitColumns } from "../delta-shapes.ts";
import source from "./columns.wgsl?raw";
import { type Context, groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";

/** Some columns of a matrix: they begin at `at` of rows `row` long. */
interface Columns {
  tensor: GpuTensor;
  row: number;
  at: number;
}

export function columnOperations({
  memory,
  commands,
}: Context): Pick<Backend<GpuTensor>, "splitColumns" | "joinColumns"> {
  function copy(from: Columns, to: Columns, rows: number, width: number): void {
    const unit = [from.row, from.at, to.row, to.at, width].every((size) => size % 4 === 0) ? 4 : 1;
    commands.dispatch({
      kernel: {
        source,
        entry: "copy_columns",
        buffers: "rw",
        constants: { TYPE: unit === 4 ? "vec4f" : "f32" },
      },
      buffers: [from.tensor, to.tensor],
      groups: groupsOf((rows * width) / unit),
      uints: [rows * width, width, from.row, from.at, to.row, to.at].map((size) => size / unit),
      work: rows * width,
    });
  }

  return {
    splitColumns(x, widths) {
      const { rows, width: row } = checkSplitColumns(x, widths);
      let at = 0;
      return widths.map((width) => {
        const tensor = memory.allocate([rows, width], "f32");
        copy({ tensor: x, row, at }, { tensor, row: width, at: 0 }, rows, width);
        at += width;
        return tensor;
      });
    },
    joinColumns(parts) {
      const { rows, width: row } = checkJoinColumns(parts);
      const y = memory.allocate([rows, row], "f32");
      let at = 0;
      for (const tensor of parts) {
        const width = tensor.shape[1]!;
        copy({ tensor, row: width, at: 0 }, { tensor: y, row, at }, rows, width);
        at += width;
      }
      return y;
    },
  };
}
