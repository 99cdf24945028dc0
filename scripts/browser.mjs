// Finds a Chromium for the tests, or installs one: Playwright's where its download works, else Debian's. The same
// folder also holds the software Vulkan driver (SwiftShader) that the Node tests reach through npm `webgpu`.
import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const CHROMIUM = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function playwrightChromium() {
  const { chromium } = await import("playwright");
  const path = chromium.executablePath();
  return path && executable(path) ? path : undefined;
}

/** The browser that a variable of the environment names, else the first of these names on the PATH. */
function findBrowser(variable, names) {
  const named = process.env[variable];
  if (named) {
    if (!executable(named)) throw new Error(`${variable} names ${named}, which cannot be executed`);
    return named;
  }
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(executable);
}

/** Path of an installed Chromium: $GCOPD_CHROMIUM, one on the PATH, or Playwright's own. Undefined when there is none. */
export async function findChromium() {
  return findBrowser("GCOPD_CHROMIUM", CHROMIUM) ?? playwrightChromium();
}

/** Path of an installed Firefox: $GCOPD_FIREFOX or one on the PATH. Undefined when there is none. */
export function findFirefox() {
  return findBrowser("GCOPD_FIREFOX", ["firefox", "firefox-esr"]);
}

function attempt(command, args) {
  console.error(`$ ${command} ${args.join(" ")}`);
  return spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"], timeout: 600_000 }).status === 0;
}

/** Like `findChromium`, but installs one if need be. */
export async function ensureChromium() {
  const found = await findChromium();
  if (found) return found;
  console.error("No Chromium found: installing one for the tests.");
  if (attempt("npx", ["playwright", "install", "--with-deps", "chromium"])) {
    const path = await playwrightChromium();
    if (path) return path;
  }
  const sudo = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const apt = (...args) => {
    const [command, ...rest] = [...sudo, "apt-get", ...args];
    return attempt(command, rest);
  };
  if (
    existsSync("/usr/bin/apt-get") &&
    apt("update") &&
    apt("install", "-y", "--no-install-recommends", "chromium")
  ) {
    const path = await findChromium();
    if (path) return path;
  }
  throw new Error("No Chromium could be installed. Install one and set GCOPD_CHROMIUM to its path.");
}

/** Folder with vk_swiftshader_icd.json beside the browser's real executable, or undefined. */
export function swiftshaderFolder(chromium) {
  const folders = [dirname(realpathSync(chromium))];
  // Distributions install a shell script that starts the real executable elsewhere.
  const head = readFileSync(realpathSync(chromium)).subarray(0, 4096);
  if (head.subarray(0, 2).toString() === "#!") {
    for (const match of head.toString("latin1").matchAll(/\/[\w./-]*\/(?:chromium|chrome)\b[\w./-]*/g)) {
      folders.push(match[0], dirname(match[0]));
    }
  }
  folders.push("/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome");
  return folders.find((folder) => existsSync(join(folder, "vk_swiftshader_icd.json")));
}

/** True when the system already has a Vulkan loader. */
function systemVulkan() {
  try {
    return execFileSync("ldconfig", ["-p"], { encoding: "utf8" }).includes("libvulkan.so.1");
  } catch {
    return false;
  }
}

/**
 * Environment in which Node's WebGPU finds the browser's software adapter. A driver chosen by the caller
 * (VK_ICD_FILENAMES or VK_DRIVER_FILES) stays.
 */
export function softwareAdapterEnvironment(chromium, environment = process.env) {
  const folder = swiftshaderFolder(chromium);
  if (!folder || environment.VK_ICD_FILENAMES || environment.VK_DRIVER_FILES) return {};
  const result = { VK_ICD_FILENAMES: join(folder, "vk_swiftshader_icd.json") };
  if (!systemVulkan()) {
    // The browser brings its own loader; the dynamic linker must know of it before Node starts.
    result.LD_LIBRARY_PATH = [folder, environment.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
  }
  return result;
}
