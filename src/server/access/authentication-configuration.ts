/** The identity providers of a server, from its flags or the file of `--authentication-config`. */
import {
  type AnonymousAuthConfig,
  type AuthenticationConfiguration,
  type AuthenticationRules,
  authenticationFormat,
  type ConfiguredProvider,
  checkAuthentication,
  configuredProviders,
  signingAlgorithms,
} from '../../access/index.ts';
import { fieldError, quote } from '../../meta/index.ts';
import { decodeConfiguration } from '../../schema/index.ts';
import {
  accessTypeProblem,
  decodingProblem,
  parseDocument,
  rejectFieldErrors,
} from '../settings/configuration-file.ts';
import type { FeatureSettings } from '../settings/feature-gates.ts';
import type { ServerSettings } from '../settings/flags.ts';
import type { authenticationFlags, openIdFlags } from '../settings/openid-flags.ts';
import { readSettingFile } from '../settings/read-file.ts';
import { StartError } from '../start-error.ts';

export type OpenIdSettings = Pick<ServerSettings, keyof typeof openIdFlags>;

export type ProviderSettings = OpenIdSettings &
  Pick<ServerSettings, keyof typeof authenticationFlags> &
  FeatureSettings;

/** A valid authentication configuration. */
export interface ConfiguredAuthentication {
  readonly providers: readonly ConfiguredProvider[];
  /** Undefined: the configuration does not set it. */
  readonly anonymous: AnonymousAuthConfig | undefined;
}

/** Whether a flag of an identity provider is set. */
export function usesOpenIdFlags(settings: OpenIdSettings): boolean {
  const { oidcUsernameClaim, oidcSigningAlgs, oidcCaFile } = settings;
  if ([oidcUsernameClaim, oidcSigningAlgs, oidcCaFile].some((value) => value !== undefined)) return true;
  const { oidcIssuerUrl, oidcClientId, oidcUsernamePrefix, oidcGroupsClaim, oidcGroupsPrefix } = settings;
  const texts = [oidcIssuerUrl, oidcClientId, oidcUsernamePrefix, oidcGroupsClaim, oidcGroupsPrefix];
  return texts.some((text) => text !== '') || settings.oidcRequiredClaim.length > 0;
}

/** The identity provider of the flags, if any. @throws StartError that names the invalid flag or field */
export async function configuredByFlags(
  settings: OpenIdSettings,
  rules: AuthenticationRules,
): Promise<ConfiguredAuthentication> {
  if (!usesOpenIdFlags(settings)) return { providers: [], anonymous: undefined };
  if (settings.oidcIssuerUrl === '' || settings.oidcClientId === '') {
    throw new StartError('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set');
  }
  const configuration = await configurationOf(settings);
  refuse('--oidc-*', configuration, rules);
  const { oidcSigningAlgs: algorithms = ['RS256'] } = settings;
  const unsupported = algorithms.find((one) => !signingAlgorithms.includes(one));
  if (unsupported !== undefined) {
    throw new StartError(`--oidc-signing-algs: oidc: unsupported signing alg: ${quote(unsupported)}`);
  }
  return { providers: configuredProviders(configuration, algorithms), anonymous: undefined };
}

/** Converts the flags into a configuration. @throws StartError */
async function configurationOf(settings: OpenIdSettings): Promise<AuthenticationConfiguration> {
  const { oidcIssuerUrl: url, oidcClientId, oidcGroupsClaim, oidcGroupsPrefix, oidcCaFile } = settings;
  const { oidcUsernameClaim: claim = 'sub' } = settings;
  const required = requiredOf(settings);
  const authority = oidcCaFile === undefined ? '' : await readSettingFile('oidc-ca-file', oidcCaFile);
  if (oidcCaFile !== undefined && authority === '')
    throw new StartError(`--oidc-ca-file=${quote(oidcCaFile)} is empty`);
  return {
    jwt: [
      {
        issuer: { url, audiences: [oidcClientId], certificateAuthority: authority },
        claimValidationRules: [...required].map(([name, requiredValue]) => ({ claim: name, requiredValue })),
        claimMappings: {
          username: { claim, prefix: usernamePrefixOf(settings, claim) },
          ...(oidcGroupsClaim === '' ? {} : { groups: { claim: oidcGroupsClaim, prefix: oidcGroupsPrefix } }),
        },
      },
    ],
  };
}

function usernamePrefixOf({ oidcIssuerUrl, oidcUsernamePrefix }: OpenIdSettings, claim: string): string {
  if (oidcUsernamePrefix === '-') return '';
  return oidcUsernamePrefix === '' && claim !== 'email' ? `${oidcIssuerUrl}#` : oidcUsernamePrefix;
}

function requiredOf({ oidcRequiredClaim }: OpenIdSettings): ReadonlyMap<string, string> {
  const required = new Map<string, string>();
  for (const pair of oidcRequiredClaim) {
    const end = pair.indexOf('=');
    if (end === -1) {
      const flag = '"--oidc-required-claim" flag';
      throw new StartError(`invalid argument ${quote(pair)} for ${flag}: malformed pair, expect string=string`);
    }
    required.set(pair.slice(0, end), pair.slice(end + 1));
  }
  return required;
}

/** @throws StartError that names every problem */
function refuse(where: string, configuration: AuthenticationConfiguration, rules: AuthenticationRules): void {
  rejectFieldErrors(`${where}: invalid authentication configuration`, checkAuthentication(configuration, rules));
}

/** Parses a configuration file. `anonymousAuth` is the flag, if set. @throws StartError that names every problem */
export function configuredByText(
  path: string,
  text: string,
  rules: AuthenticationRules,
  anonymousAuth: boolean | undefined,
): ConfiguredAuthentication {
  const flag = '--authentication-config';
  const failed = (why: string) =>
    new StartError(`${flag}: failed to load authentication configuration from file ${quote(path)}: ${why}`);
  if (text === '') throw failed('empty config data');
  const { value, where } = parseDocument(flag, path, text);
  const fault = accessTypeProblem('AuthenticationConfiguration', authenticationFormat, value ?? {}, text);
  if (fault !== undefined) throw failed(fault);
  const decoded = decodeConfiguration(authenticationFormat, value, rules.names);
  if ('problems' in decoded) throw failed(decodingProblem(decoded.problems));
  const configuration = decoded.value;
  const anonymous = configuration.anonymous ?? undefined;
  if (anonymous !== undefined && anonymousAuth !== undefined) {
    const why =
      '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file';
    rejectFieldErrors(where, [fieldError.forbidden('anonymous', why)]);
  }
  refuse(where, configuration, rules);
  return { providers: configuredProviders(configuration, signingAlgorithms), anonymous };
}
