import { beforeEach, expect, it, vi } from "vitest";
import { fake, Pending } from "../../../../test/support/fake.ts";
import { InputError } from "../../../core/errors.ts";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import { useGames } from "./games.ts";
import { useVerdicts, Verifier } from "./verify.ts";

type Clients = ConstructorParameters<typeof Verifier>[0];
type GamesClient = ReturnType<Clients["games"]>;

const { task } = makeGame(6);
const verify = vi.fn<GamesClient["verify"]>();
let verifier: Verifier;

beforeEach(() => {
  verify.mockReset();
  verifier = new Verifier({
    games: () => fake<GamesClient>({ verify }),
    readRecord: async ({ id }) => ({ source: id, decisions: [], outcome: { complete: true } }) as never,
    opensByItself: async () => true,
  });
  useVerdicts.setState(useVerdicts.getInitialState());
  useGames.setState({ tasks: [{ environment: "alfworld", task, type: null }] });
});

const of = { library: "l", environment: "alfworld", task };
const records = ["a", "b", "c"].map((id) => ({ ...of, kind: "source" as const, id }));
const verdicts = () => Object.values(useVerdicts.getState().verdicts).map(({ kind }) => kind);

it("while the records of a task are verified, it is known whose they are", async () => {
  const played = new Pending<string>();
  verify.mockReturnValue(played.promise);
  const verifying = verifier.all(of, [{ ...of, kind: "source", id: "a" }]);
  expect(useVerdicts.getState().all).toEqual({ task: of, done: 0, total: 1, left: null });
  played.resolve("decision 0: feedback");
  await verifying;
  const { all, verdicts: shown } = useVerdicts.getState();
  expect(all).toBeNull();
  expect(Object.values(shown)).toEqual([{ kind: "differs", text: "Differs: decision 0: feedback" }]);
});

it("a stop ends after the present record; meanwhile a second press does nothing, and later one begins again", async () => {
  let second = Promise.resolve();
  verify.mockImplementationOnce(async () => {
    second = verifier.all(of, records);
    verifier.stop();
    return null;
  });
  await verifier.all(of, records);
  await second;
  expect([verify.mock.calls.length, verdicts()]).toEqual([1, ["verified"]]);
  verify.mockResolvedValue(null);
  await verifier.all(of, records);
  expect([verify.mock.calls.length, verdicts()]).toEqual([4, ["verified", "verified", "verified"]]);
});

it("a record that cannot be played is told, and the others are played", async () => {
  verify.mockRejectedValueOnce(new InputError("the games are gone")).mockResolvedValue(null);
  await verifier.all(of, records);
  expect(verdicts()).toEqual(["missing", "verified", "verified"]);
  expect(useVerdicts.getState().all).toBeNull();
  useGames.setState({ tasks: [] });
  await verifier.all(of, records.slice(0, 1));
  expect([verdicts()[0], verify.mock.calls.length]).toEqual(["missing", 3]);
});
