import type { FlagType } from './flag-types.ts';

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'RBAC', 'Node'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

/** Modes of the reference server that this one does not have. */
const unsupported: readonly string[] = ['ABAC', 'Webhook'];
const valid = authorizationModes.join(', ');

/** An ordered list of authorization modes, each at most once. */
export const modesType: FlagType<readonly AuthorizationMode[]> = {
  placeholder: 'mode,…',
  given: 'string | readonly string[]',
  form: 'A list of names, or a text with commas between them.',
  parse: (value) => {
    const given = value.split(',').map((mode) => mode.trim());
    const problem = problemOf(given);
    return problem === undefined ? { value: given.filter(isMode) } : { problem };
  },
  format: (value) => value.join(','),
  joins: true,
};

const isMode = (mode: string): mode is AuthorizationMode => (authorizationModes as readonly string[]).includes(mode);

function problemOf(given: readonly string[]): string | undefined {
  if (given.every((mode) => mode === '')) return `needs at least one of the modes ${valid}`;
  const wrong = given.find((mode) => !isMode(mode));
  if (wrong !== undefined) {
    const why = unsupported.includes(wrong) ? 'is not supported yet' : 'is not a valid mode';
    return `names ${JSON.stringify(wrong)}, which ${why}: the modes are ${valid}`;
  }
  const repeated = given.find((mode, i) => given.indexOf(mode) !== i);
  if (repeated !== undefined) return `names ${repeated} more than once: the modes are ${valid}`;
  return undefined;
}

interface AccessSettings {
  readonly anonymousAuth: boolean;
  readonly authorizationMode: readonly AuthorizationMode[];
}

/** Whether requests without credentials are served: never where everything is allowed. */
export const allowsAnonymous = ({ anonymousAuth, authorizationMode }: AccessSettings): boolean =>
  anonymousAuth && !authorizationMode.includes('AlwaysAllow');

/** What is logged at the start. */
export function modeWarnings(settings: AccessSettings): string[] {
  const warnings: string[] = [];
  if (settings.authorizationMode.includes('Node')) {
    warnings.push(
      'the authorization mode Node has no opinion yet: kubelets may do what roles grant them, such as the cluster role system:node bound to the group system:nodes',
    );
  }
  if (settings.anonymousAuth && !allowsAnonymous(settings)) {
    warnings.push(
      'the authorization mode AlwaysAllow turns --anonymous-auth off: requests without credentials get 401. Use another mode to serve them',
    );
  }
  return warnings;
}
