import { flag } from './flag.ts';
import type { FlagType } from './flag-types.ts';
import * as type from './flag-types.ts';

/** Texts, which are checked where they are used. */
const texts = (what: string): FlagType<readonly string[]> => ({
  ...type.texts(what, () => undefined),
  parse: (value) => ({ value: value === '' ? [] : value.split(',') }),
});

const algorithms: FlagType<readonly string[] | undefined> = {
  ...texts('algorithm'),
  parse: (value) => ({ value: value === '' ? undefined : value.split(',') }),
  format: (value) => value?.join(',') ?? '',
};

/** A text that may be empty; undefined when not set. */
const claimName: FlagType<string | undefined> = { ...type.anyText, format: (value) => value ?? '' };

/** The flags of an identity provider, which the file of `--authentication-config` replaces. */
export const openIdFlags = {
  oidcIssuerUrl: flag(
    'Identity',
    type.anyText,
    '',
    'The URL, with https, of an identity provider (OpenID Connect) whose ID tokens are accepted as bearer tokens: [access-providers.md](access-providers.md). Needs `--oidc-client-id`.',
  ),
  oidcClientId: flag('Identity', type.anyText, '', 'The audience that a token of the provider must have.'),
  oidcUsernameClaim: flag('Identity', claimName, undefined, 'The claim with the name of the user; `sub` by default.'),
  oidcUsernamePrefix: flag(
    'Identity',
    type.anyText,
    '',
    'What names of users begin with. Without it they begin with the URL of the provider and `#`, except for the claim `email`, which has no prefix; `-` is none.',
  ),
  oidcGroupsClaim: flag(
    'Identity',
    type.anyText,
    '',
    'The claim with the groups of the user: a list of texts, or one text. Without it the user is in none.',
  ),
  oidcGroupsPrefix: flag('Identity', type.anyText, '', 'What names of groups begin with.'),
  oidcRequiredClaim: flag(
    'Identity',
    texts('name=value'),
    [],
    'Claims that a token must have with these values. Can be given more than once.',
  ),
  oidcCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'Certificate authorities in PEM, by which the certificate of the provider is verified; otherwise those that Node trusts.',
  ),
  oidcSigningAlgs: flag(
    'Identity',
    algorithms,
    undefined,
    'Algorithms that may sign a token, `RS256` by default: `RS256`, `RS384`, `RS512`, `ES256`, `ES384`, `ES512`, `PS256`, `PS384`, `PS512`.',
  ),
};

/** A path; undefined when not set, or empty. */
const fileOrNone: FlagType<string | undefined> = {
  ...type.file,
  parse: (value) => ({ value: value === '' ? undefined : value }),
};

/** The flags of an authentication configuration. */
export const authenticationFlags = {
  authenticationConfig: flag(
    'Identity',
    fileOrNone,
    undefined,
    'Identity providers, and the paths at which requests without credentials are served, in a file as in [access-providers.md](access-providers.md), in place of the flags `--oidc-*`. A changed file takes effect within a minute or two; one that is invalid does not.',
  ),
  anonymousAuth: flag(
    'Identity',
    type.optionalBoolean,
    undefined,
    'Requests without credentials are made by the user `system:anonymous` of the group `system:unauthenticated`, which is the default; with `false` they are refused. Not together with the field `anonymous` of the file of `--authentication-config`.',
  ),
};
