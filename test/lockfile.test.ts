import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(readFileSync(resolve(import.meta.dirname, "../package-lock.json"), "utf8")) as {
  packages: Record<string, Locked>;
};

it("the lock file names every platform's binaries, so that npm ci works on each of them", () => {
  // npm leaves out the platforms that a registry mirror does not serve, and then refuses its own lock file elsewhere.
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(
        (name) =>
          !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
      )
      .map((name) => `${path} wants ${name}`),
  );
  expect(missing).toEqual([]);
});

it("the lock file records no download addresses", () => {
  expect(Object.values(lock.packages).filter(({ resolved }) => /^https?:/.test(resolved ?? ""))).toEqual([]);
});

it("the lock file has the hash of every package", () => {
  const unhashed = Object.entries(lock.packages).filter(([path, { integrity }]) => path !== "" && !integrity);
  expect(unhashed.map(([path]) => path)).toEqual([]);
});
