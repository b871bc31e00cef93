/** The kind AuthenticationConfiguration: the fields of the file of `--authentication-config`. */
import {
  bool,
  type ConfigurationFormat,
  field,
  type Infer,
  list,
  string,
  struct,
  versionedKinds,
} from '../../schema/index.ts';

/** Absent and empty are not the same. */
const pointer = { nullable: true } as const;

const Issuer = struct('apiserver/v1beta1.Issuer', {
  url: field(1, string),
  discoveryURL: field(2, string),
  certificateAuthority: field(3, string),
  audiences: field(4, list(string)),
  audienceMatchPolicy: field(5, string),
});
export type Issuer = Infer<typeof Issuer>;

const ClaimValidationRule = struct('apiserver/v1beta1.ClaimValidationRule', {
  claim: field(1, string),
  requiredValue: field(2, string),
  expression: field(3, string),
  message: field(4, string),
});

const PrefixedClaimOrExpression = struct('apiserver/v1beta1.PrefixedClaimOrExpression', {
  claim: field(1, string),
  prefix: field(2, string, pointer),
  expression: field(3, string),
});
export type PrefixedClaimOrExpression = Infer<typeof PrefixedClaimOrExpression>;

const ClaimOrExpression = struct('apiserver/v1beta1.ClaimOrExpression', {
  claim: field(1, string),
  expression: field(2, string),
});
export type ClaimOrExpression = Infer<typeof ClaimOrExpression>;

const ClaimMappings = struct('apiserver/v1beta1.ClaimMappings', {
  username: field(1, PrefixedClaimOrExpression),
  groups: field(2, PrefixedClaimOrExpression),
  uid: field(3, ClaimOrExpression),
  extra: field(
    4,
    list(struct('apiserver/v1beta1.ExtraMapping', { key: field(1, string), valueExpression: field(2, string) })),
  ),
});

const JWTAuthenticator = struct('apiserver/v1beta1.JWTAuthenticator', {
  issuer: field(1, Issuer),
  claimValidationRules: field(2, list(ClaimValidationRule)),
  claimMappings: field(3, ClaimMappings),
  userValidationRules: field(
    4,
    list(struct('apiserver/v1beta1.UserValidationRule', { expression: field(1, string), message: field(2, string) })),
  ),
});
export type JWTAuthenticator = Infer<typeof JWTAuthenticator>;

const AnonymousAuthConfig = struct('apiserver/v1beta1.AnonymousAuthConfig', {
  enabled: field(1, bool),
  conditions: field(
    2,
    list(struct('apiserver/v1beta1.AnonymousAuthCondition', { path: field(1, string, { always: true }) })),
  ),
});
export type AnonymousAuthConfig = Infer<typeof AnonymousAuthConfig>;

const AuthenticationConfiguration = struct('apiserver/v1beta1.AuthenticationConfiguration', {
  apiVersion: field(1, string),
  kind: field(2, string),
  jwt: field(3, list(JWTAuthenticator)),
  anonymous: field(4, AnonymousAuthConfig, pointer),
});
export type AuthenticationConfiguration = Infer<typeof AuthenticationConfiguration>;

/** Its rules need what the server is like: `checkAuthentication`. */
export const authenticationFormat: ConfigurationFormat<AuthenticationConfiguration> = {
  kinds: versionedKinds('apiserver.config', 'AuthenticationConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  schema: AuthenticationConfiguration,
};
