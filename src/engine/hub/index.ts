/** Models of the hub, without anything of Node: the page has its own cache, the command line `node.ts`. */
export { type BroughtModel, fetchModel } from "./bring-model.ts";
export {
  DEFAULT_ENDPOINT,
  type HubFile,
  type HubName,
  hubText,
  listHubFiles,
  parseHubName,
} from "./hub-client.ts";
export { type CachedModel, OriginCache } from "./origin-cache.ts";
