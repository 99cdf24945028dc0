/** A student that another program trains: a server with Tinker's API, such as SkyRL's. */
export { deleteCheckpoint, NO_DELETING, servedModels } from "./client.ts";
export { servedCheckpoint, type TinkerOptions, TinkerTrainer } from "./trainer.ts";
