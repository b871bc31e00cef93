/** Built-in groups and users, the same under every API domain. */
export const systemAnonymous = 'system:anonymous';
export const systemMasters = 'system:masters';
export const systemAuthenticated = 'system:authenticated';
export const systemUnauthenticated = 'system:unauthenticated';

/** The groups with `system:authenticated`, unless they already say whether the user is authenticated. */
export const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(systemAuthenticated) || groups.includes(systemUnauthenticated)
    ? groups
    : [...groups, systemAuthenticated];

/** The groups of an authenticated user of this name. */
export const authenticatedGroups = (name: string, groups: readonly string[]): readonly string[] =>
  name === systemAnonymous ? groups : withAuthenticated(groups);
