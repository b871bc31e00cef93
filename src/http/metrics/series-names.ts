/** Names of objects, such as webhooks, with series of their own. */
const maxNames = 1_000;

/** Limits the names in labels: the first names keep theirs, all further names become `other`. */
export function seriesNames(): (name: string) => string {
  const names = new Set<string>();
  return (name) => {
    if (names.size < maxNames) names.add(name);
    return names.has(name) ? name : 'other';
  };
}
