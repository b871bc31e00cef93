/** The number of entries, of all lists of an object, that warnings look at. */
const maxWarned = 2_000;

/** The number of entries that are left for the object at hand; undefined outside of {@link warningsOf}. */
let room: number | undefined;

/** The entries of a list that warnings look at: a response has room for few of them. A list without entries may be null. */
export function warned<T>(entries: readonly T[] | null | undefined): readonly T[] {
  const looked = (entries ?? []).slice(0, room ?? maxWarned);
  if (room !== undefined) room -= looked.length;
  return looked;
}

/** Makes the warnings of an object in one step: {@link warned} limits the entries of all its lists together. */
export function warningsOf<T>(make: () => T): T {
  room = maxWarned;
  try {
    return make();
  } finally {
    room = undefined;
  }
}
