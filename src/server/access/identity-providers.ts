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
import { refuseFields } from '../settings/configuration-file.ts';
import { resolveFeatures } from '../settings/feature-gates.ts';
import { followFile } from '../settings/followed-file.ts';
import { readSettingFile } from '../settings/read-file.ts';
import { StartError } from '../start-error.ts';
import { rareWarnings } from '../webhooks/webhook-failures.ts';
import {
  type ConfiguredAuthentication,
  configuredByFlags,
  configuredByText,
  type ProviderSettings,
  usesOpenIdFlags,
} from './authentication-configuration.ts';
import { providerDocuments } from './provider-documents.ts';

export interface IdentityProviders extends Pick<ConfiguredAuthentication, 'anonymous'> {
  /**
   * An authenticator that contains those of the providers. It is made again when the configuration changes: what it
   * remembers ends with the configuration.
   */
  readonly within: (make: (authenticators: readonly TokenAuthenticator[]) => TokenAuthenticator) => TokenAuthenticator;
  /** Ends requests to providers, and follows no file any longer. */
  readonly close: () => Promise<void>;
}

export interface ProviderDependencies extends Pick<Dependencies, 'clock' | 'log'> {
  /** Is told of every attempt to use a changed configuration. */
  readonly reloaded: (status: 'success' | 'failure') => void;
}

/** The issuers and audiences of service account tokens. */
interface Own {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
}

/** Time within which the new providers of a changed configuration must be discovered (ms). */
const discoveryMs = 60_000;
/** How long requests that began before a change may still use its connections (ms). */
const retirementMs = 60_000;

/** The identity providers of the flags or of the file. @throws StartError */
export async function openProviders(
  settings: ProviderSettings,
  names: Names,
  own: Own,
  dependencies: ProviderDependencies,
): Promise<IdentityProviders> {
  const features = resolveFeatures(settings.featureGates);
  const rules = { names, features, serviceAccountIssuers: own.issuers };
  const connections = new Connections(names, own, dependencies);
  const path = settings.authenticationConfig;
  if (path === undefined) {
    const { providers, anonymous } = await configuredByFlags(settings, rules);
    const authenticators = connections.use(connections.open(providers));
    return { anonymous, within: (make) => make(authenticators), close: async () => connections.close() };
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
  return followed(path, settings, rules, connections, dependencies);
}

/** The providers of a file, which is read again when it changes. */
async function followed(
  path: string,
  { anonymousAuth }: ProviderSettings,
  rules: AuthenticationRules,
  connections: Connections,
  { clock, log, reloaded }: ProviderDependencies,
): Promise<IdentityProviders> {
  const read = () => readSettingFile('authentication-config', path);
  const text = await read();
  const { providers, anonymous } = configuredByText(path, text, rules, anonymousAuth);
  let authenticators = connections.use(connections.open(providers));
  const closing = new AbortController();
  const use = async (changed: string) => {
    const next = configuredByText(path, changed, rules, anonymousAuth);
    if (JSON.stringify(next.anonymous) !== JSON.stringify(anonymous)) {
      const why = 'changed from initial configuration file';
      refuseFields('--authentication-config', [fieldError.forbidden('anonymous', why)]);
    }
    const opened = connections.open(next.providers);
    if (!(await discovered(opened, clock, closing.signal))) {
      for (const { connection, isNew } of opened) if (isNew) connection.close();
      throw new StartError('--authentication-config: a new identity provider was not discovered within a minute');
    }
    authenticators = connections.use(opened);
  };
  const what = 'authentication configuration';
  const stop = followFile({ path, what, read, text, use, observe: reloaded, clock, log });
  return {
    anonymous,
    within(make) {
      let contained = authenticators;
      let made = make(contained);
      return (token, audiences) => {
        if (contained !== authenticators) {
          contained = authenticators;
          made = make(contained);
        }
        return made(token, audiences);
      };
    },
    close: async () => {
      closing.abort();
      await stop();
      connections.close();
    },
  };
}

/** Resolves once all new providers are discovered: to false when a minute passes, or the server closes, before that. */
async function discovered(
  opened: readonly Opened[],
  clock: Dependencies['clock'],
  closing: AbortSignal,
): Promise<boolean> {
  if (closing.aborted) return false;
  const added = opened.filter(({ isNew }) => isNew);
  let end = () => {};
  const ended = new Promise<false>((resolve) => {
    end = () => resolve(false);
  });
  const cancel = clock.after(discoveryMs, () => end());
  closing.addEventListener('abort', end);
  try {
    return await Promise.race([
      Promise.all(added.map(({ connection }) => connection.keys.discovered)).then(() => true),
      ended,
    ]);
  } finally {
    cancel();
    closing.removeEventListener('abort', end);
  }
}

/** The connection to a provider, which it keeps for as long as it is configured. */
interface Connection {
  readonly keys: ProviderKeys;
  readonly distributedClaims: DistributedClaims;
  readonly close: () => void;
}

/** A provider with its connection, which another configuration may have opened. */
interface Opened {
  readonly id: string;
  readonly provider: ConfiguredProvider;
  readonly connection: Connection;
  readonly isNew: boolean;
}

/** The connections to the providers of the configuration in use, and those of earlier ones for a while. */
class Connections {
  readonly #names: Names;
  readonly #audiences: readonly string[];
  readonly #clock: Dependencies['clock'];
  readonly #warn: ReturnType<typeof rareWarnings>;
  #used: ReadonlyMap<string, Connection> = new Map();
  readonly #retired = new Set<Connection>();

  constructor(names: Names, { audiences }: Own, { clock, log }: ProviderDependencies) {
    this.#names = names;
    this.#audiences = audiences;
    this.#clock = clock;
    this.#warn = rareWarnings(log, clock);
  }

  /** Connections to providers: those in use, also with other mappings, and new ones. */
  open(providers: readonly ConfiguredProvider[]): Opened[] {
    return providers.map((provider) => {
      const { issuer, discoveryUrl = '', certificateAuthority = '' } = provider;
      const id = JSON.stringify([issuer, discoveryUrl, certificateAuthority]);
      const known = this.#used.get(id);
      return { id, provider, connection: known ?? this.#connect(provider), isNew: known === undefined };
    });
  }

  /** Uses opened connections and no others. Returns the authenticators of their providers. */
  use(opened: readonly Opened[]): TokenAuthenticator[] {
    const before = this.#used;
    this.#used = new Map(opened.map(({ id, connection }) => [id, connection]));
    for (const [id, connection] of before) if (!this.#used.has(id)) this.#retire(connection);
    return opened.map(({ provider, connection: { keys, distributedClaims } }) =>
      openIdAuthenticator({
        provider,
        keys,
        distributedClaims,
        names: this.#names,
        clock: this.#clock,
        audiences: this.#audiences,
      }),
    );
  }

  close(): void {
    for (const connection of [...this.#used.values(), ...this.#retired]) connection.close();
  }

  #connect({ issuer, discoveryUrl, certificateAuthority }: ConfiguredProvider): Connection {
    const documents = providerDocuments(certificateAuthority);
    const failed = (why: string) => this.#warn('the identity provider cannot be discovered', { issuer, why });
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
