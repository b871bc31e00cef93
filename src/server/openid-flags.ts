import { flag } from './flag.ts';
import type { FlagType } from './flag-types.ts';
import * as type from './flag-types.ts';

/** Texts, which are checked where they are used. */
const texts = (what: string): FlagType<readonly string[]> => ({
  ...type.texts(what, () => undefined),
  parse: (value) => ({ value: value === '' ? [] : value.split(',') }),
});

/** The flags of an identity provider. */
export const openIdFlags = {
  oidcIssuerUrl: flag(
    'Identity',
    type.anyText,
    '',
    'The URL, with https, of an identity provider (OpenID Connect) whose ID tokens are accepted as bearer tokens: [access-providers.md](access-providers.md). Needs `--oidc-client-id`.',
  ),
  oidcClientId: flag('Identity', type.anyText, '', 'The audience that a token of the provider must have.'),
  oidcUsernameClaim: flag('Identity', type.anyText, 'sub', 'The claim with the name of the user.'),
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
    texts('algorithm'),
    ['RS256'],
    'Algorithms of which the signature of a token may be: `RS256`, `RS384`, `RS512`, `ES256`, `ES384`, `ES512`, `PS256`, `PS384`, `PS512`.',
  ),
};
