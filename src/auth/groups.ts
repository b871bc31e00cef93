/** Built-in groups, the same under every API domain. */
export const systemMasters = 'system:masters';
export const systemAuthenticated = 'system:authenticated';
export const systemUnauthenticated = 'system:unauthenticated';

/** The groups with `system:authenticated`, once. */
export const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(systemAuthenticated) ? groups : [...groups, systemAuthenticated];
