/** fast-check with the same cases in every run, wherever the tests run; `GCOPD_PROPERTY_SEED=N` tries others. */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.GCOPD_PROPERTY_SEED ?? 1) });

export default fc;
