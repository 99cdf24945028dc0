import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fixtureFolder } from "../../../test/support/environment-fixture.ts";
import { pageKey } from "../../core/environment/webshop/page.ts";
import { pageOfUrl } from "../../core/environment/webshop/page-url.ts";
import { readCatalogue } from "./catalogue.ts";
import { Shop } from "./shop.ts";

interface Row {
  action?: string;
  obs: string;
  avail: { has_search_bar: boolean; clickables: string[] };
  reward?: number;
  done?: boolean;
  url?: string;
}

const folder = fixtureFolder("live/webshop");
const shop = new Shop(readCatalogue(readFileSync(join(folder, "shop.json"), "utf8"), "shop.json"));
const episodes = JSON.parse(gunzipSync(readFileSync(join(folder, "episodes.json.gz"))).toString()) as {
  goal: number;
  session: string;
  rows: Row[];
}[];

describe("episodes of WebShop's own text environment", () => {
  test("there are all of them", () => expect(episodes).toHaveLength(75));

  test.each(episodes.map((episode) => [episode.session, episode] as const))(
    "%s",
    (_session, { goal, rows }) => {
      const episode = shop.open(goal);
      for (const row of rows) {
        const step = row.action === undefined ? undefined : episode.step(row.action);
        expect(episode.observation).toBe(row.obs);
        expect(episode.actions).toEqual(row.avail);
        expect(step?.reward).toBe(row.reward);
        expect(step?.done).toBe(row.done);
        if (row.url !== undefined) expect(episode.key).toBe(pageKey(pageOfUrl(row.url, "text_env")));
      }
    },
  );
});
