import { beforeEach, expect, it, vi } from "vitest";
import { InputError } from "../../../core/errors.ts";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import { useGames } from "./games.ts";
import { stopVerifying, useVerdicts, verifyAll } from "./verify.ts";

const games = vi.hoisted(() => ({ verify: vi.fn() }));
const { task } = makeGame(6);
const SOURCE = { source: "a", decisions: [], outcome: { complete: true } };

vi.mock("../clients.ts", () => ({ gamesWorker: () => games }));
vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({
    tasks: { sources: async () => ["a", "b", "c"].map((source) => ({ ...SOURCE, source })) },
  }),
}));

beforeEach(() => {
  games.verify.mockReset();
  useVerdicts.setState(useVerdicts.getInitialState());
  useGames.setState({ tasks: [{ environment: "alfworld", task, type: null }] });
});

const of = { library: "l", environment: "alfworld", task };
const records = ["a", "b", "c"].map((id) => ({ ...of, kind: "source" as const, id }));
const verdicts = () => Object.values(useVerdicts.getState().verdicts).map(({ kind }) => kind);

it("while the records of a task are verified, it is known whose they are", async () => {
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
  const { all, verdicts: shown } = useVerdicts.getState();
  expect(all).toBeNull();
  expect(Object.values(shown)).toEqual([{ kind: "differs", text: "Differs: decision 0: feedback" }]);
});

it("a stop ends after the present record; meanwhile a second press does nothing, and later one begins again", async () => {
  let second = Promise.resolve();
  games.verify.mockImplementationOnce(async () => {
    second = verifyAll(of, records);
    stopVerifying();
    return null;
  });
  await verifyAll(of, records);
  await second;
  expect([games.verify.mock.calls.length, verdicts()]).toEqual([1, ["verified"]]);
  games.verify.mockResolvedValue(null);
  await verifyAll(of, records);
  expect([games.verify.mock.calls.length, verdicts()]).toEqual([4, ["verified", "verified", "verified"]]);
});

it("a record that cannot be played is told, and the others are played", async () => {
  games.verify.mockRejectedValueOnce(new InputError("the games are gone")).mockResolvedValue(null);
  await verifyAll(of, records);
  expect(verdicts()).toEqual(["missing", "verified", "verified"]);
  expect(useVerdicts.getState().all).toBeNull();
  useGames.setState({ tasks: [] });
  await verifyAll(of, records.slice(0, 1));
  expect([verdicts()[0], games.verify.mock.calls.length]).toEqual(["missing", 3]);
});
