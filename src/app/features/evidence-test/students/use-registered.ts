import { useEffect } from "react";
import { InputError } from "../../../../core/errors.ts";
import { type Registered, readRegistered } from "../../../compute/students/registered.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { getBlob } from "../../../data/library/sample.ts";
import { shippedBase } from "../../../data/shipped-base.ts";

/** In the folder of the miniature; `scripts/miniature/tables.ts` writes it. */
const FILE = "registered.json";

/** The miniature's registered experiment; null until it is there. */
export function useRegistered(): Registered | null {
  const registered = useStudents((state) => state.registered);
  useEffect(() => {
    if (useStudents.getState().registered !== null) return;
    getBlob(shippedBase("miniature"), FILE)
      .then(async (blob) => useStudents.setState({ registered: readRegistered(await blob.text(), FILE) }))
      .catch((error: unknown) => {
        if (!(error instanceof InputError)) throw error;
        useStudents.setState({ problem: error.message });
      });
  }, []);
  return registered;
}
