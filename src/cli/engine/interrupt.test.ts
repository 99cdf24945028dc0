import { afterEach, expect, it, vi } from "vitest";
import { listenForInterrupts } from "./interrupt.ts";

const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
afterEach(() => exit.mockClear());

it("ends the process at the third Ctrl-C, for work that heeds neither signal before; at no SIGTERM", () => {
  const interrupt = listenForInterrupts();
  try {
    for (const name of ["SIGTERM", "SIGTERM", "SIGTERM"] as const) process.emit(name, name);
    expect([interrupt.first.aborted, interrupt.second.aborted]).toEqual([true, true]);
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGINT", "SIGINT");
    expect(exit).toHaveBeenCalledExactlyOnceWith(143);
  } finally {
    interrupt.release();
  }
});
