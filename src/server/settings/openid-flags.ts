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
    'https URL of an OpenID Connect identity provider whose ID tokens are accepted as bearer tokens ([access-providers.md](access-providers.md)). Requires `--oidc-client-id`.',
  ),
  oidcClientId: flag('Identity', type.anyText, '', 'Client ID: the audience that a token of the provider must have.'),
  oidcUsernameClaim: flag('Identity', claimName, undefined, 'Claim with the name of the user; `sub` by default.'),
  oidcUsernamePrefix: flag(
    'Identity',
    type.anyText,
    '',
    'Prefix of user names; `-` means none. If not set, it is the URL of the provider and `#`, or none for the claim `email`.',
  ),
  oidcGroupsClaim: flag(
    'Identity',
    type.anyText,
    '',
    'Claim with the groups of the user: a list of strings, or one string. If not set, the user is in no group of the provider.',
  ),
  oidcGroupsPrefix: flag('Identity', type.anyText, '', 'Prefix of group names.'),
  oidcRequiredClaim: flag(
    'Identity',
    texts('name=value'),
    [],
    'Claims that a token must have with these values. May be repeated.',
  ),
  oidcCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'CA bundle in PEM with which the certificate of the provider is verified. If not set, the authorities that Node trusts are used.',
  ),
  oidcSigningAlgs: flag(
    'Identity',
    algorithms,
    undefined,
    'Algorithms with which tokens may be signed, `RS256` by default: `RS256`, `RS384`, `RS512`, `ES256`, `ES384`, `ES512`, `PS256`, `PS384`, `PS512`.',
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
    'File that configures identity providers and the paths that are served without credentials ([access-providers.md](access-providers.md)), in place of the flags `--oidc-*`. A changed file takes effect within a minute or two; an invalid one does not.',
  ),
  anonymousAuth: flag(
    'Identity',
    type.optionalBoolean,
    undefined,
    'Whether requests without credentials are served, as the user `system:anonymous` in the group `system:unauthenticated`; they are by default. Must not be combined with the field `anonymous` of the file of `--authentication-config`.',
  ),
};
