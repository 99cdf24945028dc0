/** How the API refuses. */
import { z } from "zod";

export const Refusal = z
  .object({
    error: z.string().meta({ description: "One line: the place, the key and what was expected." }),
  })
  .meta({ id: "Error" });
