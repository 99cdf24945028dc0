import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { folderToken, readTokenFile } from "./token-file.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-token-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("takes the token from a file of its owner alone", async () => {
  const file = join(folder, "token");
  writeFileSync(file, "0123456789abcdef\n");
  for (const mode of [0o644, 0o640, 0o602]) {
    chmodSync(file, mode);
    await expect(readTokenFile(file, "--token-file")).rejects.toThrow(
      `${file}, --token-file: others may read or write it (mode 0${mode.toString(8)}); expected mode 0600: chmod 600 ${file}`,
    );
  }
  chmodSync(file, 0o600);
  expect(await readTokenFile(file)).toBe("0123456789abcdef");
  await expect(readTokenFile(join(folder, "none"))).rejects.toThrow("no such file");
});

it.runIf(process.getuid)("refuses a file of another user, whose owner could change it later", async () => {
  const file = join(folder, "foreign");
  writeFileSync(file, "0123456789abcdef\n", { mode: 0o600 });
  const { uid } = statSync(file);
  const user = vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
  await expect(readTokenFile(file, "--token-file")).rejects.toThrow(
    `${file}, --token-file: it is of user ${uid}; expected a file of user ${uid + 1}, who starts the worker`,
  );
  user.mockRestore();
});

it("keeps a data folder's token in a file of its owner alone, and refuses one that is damaged", async () => {
  const data = mkdtempSync(join(folder, "data-"));
  const token = await folderToken(data);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(statSync(join(data, "token")).mode & 0o777).toBe(0o600);
  expect(await folderToken(data)).toBe(token);
  writeFileSync(join(data, "token"), "short\n");
  await expect(folderToken(data)).rejects.toThrow(`${join(data, "token")}: expected at least 16 characters`);
});
