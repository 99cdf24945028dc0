/**
 * Zod compiles its checks with `new Function` where it may, which this page's policy forbids: a browser reports each
 * try. Every script of the page imports this before anything that makes a schema.
 */
import * as z from "zod";

z.config({ jitless: true });
