/** How many times slower the browser's processor is to be: GCOPD_CPU_THROTTLE, 1 when absent. Time limits grow with it. */
function throttle(): number {
  const text = process.env.GCOPD_CPU_THROTTLE ?? "1";
  const rate = Number(text);
  if (!(rate >= 1 && rate <= 100))
    throw new Error(`GCOPD_CPU_THROTTLE: expected a number from 1 to 100, received "${text}"`);
  return rate;
}

export const CPU_THROTTLE = throttle();

/** Milliseconds that models may take for what a test waits for. */
export const MODEL_TIME = 400_000 * CPU_THROTTLE;
