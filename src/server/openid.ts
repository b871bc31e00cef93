import { type OpenIdProvider, openIdAuthenticator, ProviderKeys, signingAlgorithms } from '../access/index.ts';
import type { TokenAuthenticator } from '../auth/index.ts';
import { type Names, quote } from '../meta/index.ts';
import { bundleFault } from '../pki/index.ts';
import type { Dependencies, Log } from './dependencies.ts';
import type { ServerSettings } from './flags.ts';
import type { openIdFlags } from './openid-flags.ts';
import { providerDocuments } from './provider-documents.ts';
import { readSettingFile } from './read-file.ts';
import { StartError } from './start-error.ts';
import { rareWarnings } from './webhook-failures.ts';

export type OpenIdSettings = Pick<ServerSettings, keyof typeof openIdFlags>;

interface OpenIdDependencies extends Pick<Dependencies, 'clock'> {
  readonly log: Pick<Log, 'warn'>;
}

/** The identity provider of a server. */
export interface OpenId {
  readonly authenticate: TokenAuthenticator;
  /** Ends requests to the provider. */
  readonly close: () => void;
}

/** The issuers and audiences of tokens of service accounts. */
interface Own {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
}

/** The identity provider of the settings; undefined: there is none. @throws StartError */
export async function openIdOf(
  settings: OpenIdSettings,
  names: Names,
  { issuers, audiences }: Own,
  { clock, log }: OpenIdDependencies,
): Promise<OpenId | undefined> {
  if (!isUsed(settings)) return undefined;
  const provider = providerOf(settings, issuers);
  const documents = providerDocuments(await authoritiesOf(settings));
  const warn = rareWarnings(log, clock);
  const { issuer } = provider;
  const { get } = documents;
  const failed = (why: string) => warn('the identity provider cannot be discovered', { issuer, why });
  const keys = new ProviderKeys({ issuer, get, clock, failed });
  return {
    authenticate: openIdAuthenticator({ provider, keys, names, clock, audiences }),
    close: () => {
      keys.close();
      documents.close();
    },
  };
}

function isUsed(settings: OpenIdSettings): boolean {
  const { oidcIssuerUrl, oidcClientId, oidcUsernameClaim, oidcUsernamePrefix, oidcGroupsClaim } = settings;
  const { oidcGroupsPrefix, oidcRequiredClaim, oidcCaFile, oidcSigningAlgs } = settings;
  if (oidcIssuerUrl !== '' && oidcClientId !== '') return true;
  const texts = [oidcIssuerUrl, oidcClientId, oidcUsernamePrefix, oidcGroupsClaim, oidcGroupsPrefix, oidcCaFile ?? ''];
  const used =
    texts.some((text) => text !== '') ||
    oidcUsernameClaim !== 'sub' ||
    oidcRequiredClaim.length > 0 ||
    oidcSigningAlgs.join() !== 'RS256';
  if (!used) return false;
  throw new StartError('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set');
}

/** @throws StartError that names the flag by its field of an authentication configuration */
function providerOf(settings: OpenIdSettings, issuers: readonly string[]): OpenIdProvider {
  const { oidcIssuerUrl: issuer, oidcClientId, oidcUsernameClaim, oidcGroupsClaim, oidcSigningAlgs } = settings;
  const problem = issuerProblem(issuer, issuers);
  if (problem !== undefined) throw invalid(`jwt[0].issuer.url: Invalid value: ${quote(issuer)}: ${problem}`);
  const requiredClaims = requiredOf(settings);
  if (oidcUsernameClaim === '') {
    throw invalid('jwt[0].claimMappings.username: Required value: claim or expression is required');
  }
  const unsupported = oidcSigningAlgs.find((one) => !(signingAlgorithms as readonly string[]).includes(one));
  if (unsupported !== undefined) {
    throw new StartError(`--oidc-signing-algs: oidc: unsupported signing alg: ${quote(unsupported)}`);
  }
  return {
    issuer,
    audiences: [oidcClientId],
    algorithms: oidcSigningAlgs,
    username: { claim: oidcUsernameClaim, prefix: usernamePrefixOf(settings) },
    groups: oidcGroupsClaim === '' ? undefined : { claim: oidcGroupsClaim, prefix: settings.oidcGroupsPrefix },
    requiredClaims,
  };
}

const invalid = (why: string) => new StartError(`--oidc-*: invalid authentication configuration: ${why}`);

function usernamePrefixOf({ oidcIssuerUrl, oidcUsernameClaim, oidcUsernamePrefix }: OpenIdSettings): string {
  if (oidcUsernamePrefix === '-') return '';
  return oidcUsernamePrefix === '' && oidcUsernameClaim !== 'email' ? `${oidcIssuerUrl}#` : oidcUsernamePrefix;
}

function requiredOf({ oidcRequiredClaim }: OpenIdSettings): ReadonlyMap<string, string> {
  const required = new Map<string, string>();
  for (const pair of oidcRequiredClaim) {
    const end = pair.indexOf('=');
    if (end === -1) {
      const flag = '"--oidc-required-claim" flag';
      throw new StartError(`invalid argument ${quote(pair)} for ${flag}: malformed pair, expect string=string`);
    }
    if (end === 0) throw invalid('jwt[0].claimValidationRules[0]: Required value: claim or expression is required');
    required.set(pair.slice(0, end), pair.slice(end + 1));
  }
  return required;
}

/** What is wrong with the URL of an issuer. `issuers` are those of service accounts. */
function issuerProblem(text: string, issuers: readonly string[]): string | undefined {
  if (issuers.includes(text)) return `URL must not overlap with disallowed issuers: [${issuers.join(' ')}]`;
  if (!URL.canParse(text)) return 'it is no URL';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'URL scheme must be https';
  if (url.username !== '' || url.password !== '') return 'URL must not contain a username or password';
  if (text.includes('?')) return 'URL must not contain a query';
  return text.includes('#') ? 'URL must not contain a fragment' : undefined;
}

async function authoritiesOf({ oidcCaFile }: OpenIdSettings): Promise<string | undefined> {
  if (oidcCaFile === undefined) return undefined;
  const pem = await readSettingFile('oidc-ca-file', oidcCaFile);
  if (bundleFault(pem) === undefined) return pem;
  const why = 'data does not contain any valid RSA or ECDSA certificates';
  throw invalid(`jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": ${why}`);
}
