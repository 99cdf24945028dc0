import { expect, it, vi } from "vitest";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import { useGames } from "./games.ts";
import { useVerdicts, verifyAll } from "./verify.ts";

const games = vi.hoisted(() => ({ verify: vi.fn() }));
const { task } = makeGame(6);
const SOURCE = { source: "a", decisions: [], outcome: { complete: true } };

vi.mock("../clients.ts", () => ({ gamesWorker: () => games }));
vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({ sources: async () => [SOURCE] }),
}));

it("while the records of a task are verified, it is known whose they are", async () => {
  useGames.setState({ tasks: [{ environment: "alfworld", task, type: null }] });
  const of = { library: "l", environment: "alfworld", task };
  let end = (_: string | null): void => undefined;
  games.verify.mockReturnValue(
    new Promise((resolve) => {
      end = resolve;
    }),
  );
  const verifying = verifyAll(of, [{ ...of, kind: "source", id: "a" }]);
  expect(useVerdicts.getState().all).toEqual({ task: of, done: 0, total: 1, left: null });
  end("decision 0: feedback");
  await verifying;
  const { all, verdicts } = useVerdicts.getState();
  expect(all).toBeNull();
  expect(Object.values(verdicts)).toEqual([{ kind: "differs", text: "Differs: decision 0: feedback" }]);
});
