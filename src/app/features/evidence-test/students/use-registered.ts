import { useEffect, useState } from "react";
import { describeFault } from "../../../base/faults.ts";
import { type Registered, readRegistered } from "../../../compute/students/registered.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { getBlob } from "../../../data/library/sample.ts";
import { shippedBase } from "../../../data/shipped-base.ts";

/** In the folder of the miniature; `scripts/miniature/tables.ts` writes it. */
const FILE = "registered.json";

/**
 * The miniature's registered experiment; null until it is there. `unread` says why it could not be read; opening the
 * view again tries once more.
 */
export function useRegistered(): { registered: Registered | null; unread: string | null } {
  const registered = useStudents((state) => state.registered);
  const [unread, setUnread] = useState<string | null>(null);
  useEffect(() => {
    if (useStudents.getState().registered !== null) return;
    getBlob(shippedBase("miniature"), FILE)
      .then(async (blob) => useStudents.setState({ registered: readRegistered(await blob.text(), FILE) }))
      .catch((error: unknown) => setUnread(describeFault(error)));
  }, []);
  return { registered, unread };
}
