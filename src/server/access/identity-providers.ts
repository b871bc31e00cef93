/** The identity providers of a server: their connections, and the configuration file that names them. */
import {
  type AuthenticationRules,
  type ConfiguredProvider,
  DistributedClaims,
  openIdAuthenticator,
  ProviderKeys,
} from '../../access/index.ts';
import type { TokenAuthenticator } from '../../auth/index.ts';
import { fieldError, type Names } from '../../meta/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { rejectFieldErrors } from '../settings/configuration-file.ts';
import { resolveFeatures } from '../settings/feature-gates.ts';
import { followFile } from '../settings/followed-file.ts';
import { readSettingFile } from '../settings/read-file.ts';
import { StartError } from '../start-error.ts';
import { throttleWarnings } from '../webhooks/throttled-warnings.ts';
import {
  type ConfiguredAuthentication,
  configuredByFlags,
  configuredByText,
  type ProviderSettings,
  usesOpenIdFlags,
} from './authentication-configuration.ts';
import { providerDocuments } from './provider-documents.ts';

export interface IdentityProviders extends Pick<ConfiguredAuthentication, 'anonymous'> {
  /** The providers of the current configuration, with what is discovered of them so far. */
  readonly providers: () => readonly DiscoveredProvider[];
  /**
   * Wraps the authenticator of the providers. `make` is called again when the configuration changes, so that caches end
   * with the configuration.
   */
  readonly within: (make: (providers: TokenAuthenticator) => TokenAuthenticator) => TokenAuthenticator;
  /** Aborts requests to providers and stops following the file. */
  readonly close: () => Promise<void>;
}

export interface DiscoveredProvider extends ConfiguredProvider {
  /** Undefined: not discovered yet, or the discovery document names no URL with https. */
  readonly tokenEndpoint: string | undefined;
}

export interface ProviderDependencies extends Pick<Dependencies, 'clock' | 'log'> {
  /** Called after every attempt to use a changed configuration. */
  readonly reloaded: (status: 'success' | 'failure') => void;
}

/** The issuers and audiences of service account tokens. */
interface OwnIssuers {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
}

/** Time within which the new providers of a changed configuration must be discovered (ms). */
const discoveryMs = 60_000;
/** How long the connections of a replaced configuration stay open for requests in flight (ms). */
const retirementMs = 60_000;

/** The identity providers of the flags or of the file. @throws StartError */
export async function openProviders(
  settings: ProviderSettings,
  names: Names,
  own: OwnIssuers,
  dependencies: ProviderDependencies,
): Promise<IdentityProviders> {
  const features = resolveFeatures(settings);
  const rules = { names, features, serviceAccountIssuers: own.issuers };
  const connections = new Connections(names, own, dependencies);
  const path = settings.authenticationConfig;
  if (path === undefined) {
    const { providers, anonymous } = await configuredByFlags(settings, rules);
    const authenticator = connections.use(connections.open(providers));
    return {
      anonymous,
      providers: () => connections.discovered(providers),
      within: (make) => make(authenticator),
      close: async () => connections.close(),
    };
  }
  if (!features.StructuredAuthenticationConfiguration) {
    throw new StartError(
      'set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file',
    );
  }
  if (usesOpenIdFlags(settings)) {
    throw new StartError(
      'authentication-config file and oidc-* flags are mutually exclusive: write what the flags say into the file',
    );
  }
  return openFromFile(path, settings, rules, connections, dependencies);
}

/** Opens the providers of a file and reloads it when it changes. */
async function openFromFile(
  path: string,
  { anonymousAuth }: ProviderSettings,
  rules: AuthenticationRules,
  connections: Connections,
  { clock, log, reloaded }: ProviderDependencies,
): Promise<IdentityProviders> {
  const read = () => readSettingFile('authentication-config', path);
  const text = await read();
  const configured = configuredByText(path, text, rules, anonymousAuth);
  const { anonymous } = configured;
  let { providers } = configured;
  let authenticator = connections.use(connections.open(providers));
  const closing = new AbortController();
  const use = async (changed: string) => {
    const next = configuredByText(path, changed, rules, anonymousAuth);
    if (JSON.stringify(next.anonymous) !== JSON.stringify(anonymous)) {
      const why = 'changed from initial configuration file';
      rejectFieldErrors('--authentication-config', [fieldError.forbidden('anonymous', why)]);
    }
    const opened = connections.open(next.providers);
    if (!(await waitForDiscovery(opened, clock, closing.signal))) {
      for (const { connection, isNew } of opened) if (isNew) connection.close();
      throw new StartError('--authentication-config: a new identity provider was not discovered within a minute');
    }
    authenticator = connections.use(opened);
    providers = next.providers;
  };
  const what = 'authentication configuration';
  const stop = followFile({ path, what, read, text, use, observe: reloaded, clock, log });
  return {
    anonymous,
    providers: () => connections.discovered(providers),
    within(make) {
      let current = authenticator;
      let authenticate = make(current);
      return (token, audiences, owner) => {
        if (current !== authenticator) {
          current = authenticator;
          authenticate = make(current);
        }
        return authenticate(token, audiences, owner);
      };
    },
    close: async () => {
      closing.abort();
      await stop();
      connections.close();
    },
  };
}

/** Resolves once all new providers are discovered: with false after a minute, or when the server closes first. */
async function waitForDiscovery(
  opened: readonly Opened[],
  clock: Dependencies['clock'],
  closing: AbortSignal,
): Promise<boolean> {
  if (closing.aborted) return false;
  const newProviders = opened.filter(({ isNew }) => isNew);
  let end = () => {};
  const ended = new Promise<false>((resolve) => {
    end = () => resolve(false);
  });
  const cancel = clock.after(discoveryMs, () => end());
  closing.addEventListener('abort', end);
  try {
    return await Promise.race([
      Promise.all(newProviders.map(({ connection }) => connection.keys.discovered)).then(() => true),
      ended,
    ]);
  } finally {
    cancel();
    closing.removeEventListener('abort', end);
  }
}

/** The connection to a provider; it stays open while the provider is configured. */
interface Connection {
  readonly keys: ProviderKeys;
  readonly distributedClaims: DistributedClaims;
  readonly close: () => void;
}

/** A provider with its connection, which the previous configuration may have opened. */
interface Opened {
  readonly id: string;
  readonly provider: ConfiguredProvider;
  readonly connection: Connection;
  readonly isNew: boolean;
}

/** Providers with the same address share a connection. */
const connectionId = ({ issuer, discoveryUrl = '', certificateAuthority = '' }: ConfiguredProvider): string =>
  JSON.stringify([issuer, discoveryUrl, certificateAuthority]);

/** The connections to the providers of the current configuration, and for a while those of replaced ones. */
class Connections {
  readonly #names: Names;
  readonly #audiences: readonly string[];
  readonly #clock: Dependencies['clock'];
  readonly #warn: ReturnType<typeof throttleWarnings>;
  #used: ReadonlyMap<string, Connection> = new Map();
  readonly #retired = new Set<Connection>();

  constructor(names: Names, { audiences }: OwnIssuers, { clock, log }: ProviderDependencies) {
    this.#names = names;
    this.#audiences = audiences;
    this.#clock = clock;
    this.#warn = throttleWarnings(log, clock);
  }

  /** Opens connections to providers; a provider with the same address keeps its connection. */
  open(providers: readonly ConfiguredProvider[]): Opened[] {
    return providers.map((provider) => {
      const id = connectionId(provider);
      const existing = this.#used.get(id);
      return { id, provider, connection: existing ?? this.#connect(provider), isNew: existing === undefined };
    });
  }

  /** Replaces the connections in use. Returns the authenticator of their providers. */
  use(opened: readonly Opened[]): TokenAuthenticator {
    const before = this.#used;
    this.#used = new Map(opened.map(({ id, connection }) => [id, connection]));
    for (const [id, connection] of before) if (!this.#used.has(id)) this.#retire(connection);
    const shared = { names: this.#names, clock: this.#clock, audiences: this.#audiences };
    return openIdAuthenticator(
      opened.map(({ provider, connection: { keys, distributedClaims } }) => ({
        provider,
        keys,
        distributedClaims,
        ...shared,
      })),
    );
  }

  /** The providers with what their connections have discovered. */
  discovered(providers: readonly ConfiguredProvider[]): DiscoveredProvider[] {
    return providers.map((provider) => {
      const { tokenEndpoint } = this.#used.get(connectionId(provider))?.keys ?? {};
      return { ...provider, tokenEndpoint };
    });
  }

  close(): void {
    for (const connection of [...this.#used.values(), ...this.#retired]) connection.close();
  }

  #connect({ issuer, discoveryUrl, certificateAuthority }: ConfiguredProvider): Connection {
    const documents = providerDocuments(certificateAuthority);
    const failed = (why: string) => this.#warn('failed to discover the identity provider', { issuer, why });
    const keys = new ProviderKeys({ issuer, discoveryUrl, get: documents.get, clock: this.#clock, failed });
    const distributedClaims = new DistributedClaims(documents.get, this.#clock);
    return {
      keys,
      distributedClaims,
      close: () => {
        keys.close();
        distributedClaims.close();
        documents.close();
      },
    };
  }

  #retire(connection: Connection): void {
    this.#retired.add(connection);
    this.#clock.after(retirementMs, () => {
      this.#retired.delete(connection);
      connection.close();
    });
  }
}
