import { quote } from '../../meta/index.ts';
import type { FlagType } from './flag-types.ts';

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

const valid = authorizationModes.join(', ');

/** Names of modes in their order; undefined when not set, or empty. Whether they are valid is found at the start. */
export const modesType: FlagType<readonly string[] | undefined> = {
  placeholder: 'mode,…',
  optionType: 'string | readonly string[]',
  form: 'A list of names, or a text with commas between them.',
  parse: (value) => ({ value: value === '' ? undefined : value.split(',') }),
  format: (value) => value?.join(',') ?? '',
  joins: true,
};

export const isMode = (mode: string): mode is AuthorizationMode =>
  (authorizationModes as readonly string[]).includes(mode);

/** What is wrong with names of modes; undefined: each is one, and none is there twice. */
export function modesProblem(modes: readonly string[]): string | undefined {
  const wrong = modes.find((mode) => !isMode(mode));
  if (wrong !== undefined) {
    return `authorization-mode ${quote(wrong)} is not a valid mode: --authorization-mode takes ${valid}`;
  }
  if (new Set(modes).size === modes.length) return undefined;
  return `authorization-mode [${modes.map((mode) => quote(mode)).join(' ')}] has mode specified more than once`;
}

interface AccessSettings {
  /** Undefined: they are served. */
  readonly anonymousAuth: boolean | undefined;
  readonly authorizationMode: readonly string[] | undefined;
}

const byDefault: readonly string[] = ['RBAC'];

/** The modes of the settings. */
export const modesOf = ({ authorizationMode }: Pick<AccessSettings, 'authorizationMode'>): readonly string[] =>
  authorizationMode ?? byDefault;

/** Whether requests without credentials are served: never where everything is allowed. */
export const allowsAnonymous = (settings: AccessSettings): boolean =>
  settings.anonymousAuth !== false && !modesOf(settings).includes('AlwaysAllow');

/** What is logged at the start. */
export function modeWarnings(settings: AccessSettings): string[] {
  const warnings: string[] = [];
  if (settings.anonymousAuth !== false && !allowsAnonymous(settings)) {
    warnings.push(
      'the authorization mode AlwaysAllow turns --anonymous-auth off: requests without credentials get 401. Use another mode to serve them',
    );
  }
  return warnings;
}
