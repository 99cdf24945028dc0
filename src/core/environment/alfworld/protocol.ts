/** Collection in ALFWorld counts every reply, as training and evaluation do. */
import { type Protocol, type Purpose, playProtocols } from "../protocol.ts";

const { train, evaluate } = playProtocols(5);

export const ALFWORLD_PROTOCOL: Record<Purpose, Protocol> = { collect: evaluate, train, evaluate };
