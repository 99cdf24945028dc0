import { z } from "zod";

export const addedTokenSchema = z.looseObject({
  id: z.int().nonnegative(),
  content: z.string().min(1),
  special: z.boolean(),
  lstrip: z.boolean().optional(),
  rstrip: z.boolean().optional(),
  single_word: z.boolean().optional(),
});

export type AddedToken = z.infer<typeof addedTokenSchema>;
