/** What the worker's jobs compute on. */
import { z } from "zod";

export const Adapter = z
  .object({
    vendor: z.string(),
    architecture: z.string(),
    device: z.string(),
    description: z.string(),
    software: z.boolean().meta({ description: "It computes on the CPU, slowly." }),
    features: z.array(z.string()),
  })
  .meta({ id: "Adapter" });

export const DeviceReport = z
  .object({
    device: z.enum(["webgpu", "cpu"]).meta({ description: "What a job with device `auto` takes." }),
    adapter: Adapter.nullable(),
    message: z.string().meta({ description: "One line for a person." }),
  })
  .meta({ id: "Device" });
export type DeviceReport = z.infer<typeof DeviceReport>;
