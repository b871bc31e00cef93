import { webhookAuthorizer } from '../../access/index.ts';
import {
  type Attributes,
  type AuthorizationObserver,
  type Authorizer,
  abacAuthorizer,
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  mastersAuthorizer,
  type NodeGraph,
  nodeAuthorizer,
  noOpinion,
  observedAuthorizer,
  parsePolicyFile,
  type RbacIndex,
  rbacAuthorizer,
  systemUnauthenticated,
  unionAuthorizer,
} from '../../auth/index.ts';
import { type Names, statusError, type User } from '../../meta/index.ts';
import type { RegistryOptions } from '../../registry/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { type AuthorizationSettings, authorizationProblem } from '../settings/authorization-flags.ts';
import { type AuthorizationMode, modeWarnings } from '../settings/authorization-modes.ts';
import { type FeatureSettings, resolveFeatures } from '../settings/feature-gates.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { followFile } from '../settings/followed-file.ts';
import { readSettingFile } from '../settings/read-file.ts';
import { StartError, systemReason } from '../start-error.ts';
import { throttleWarnings } from '../webhooks/throttled-warnings.ts';
import { retryPauses } from '../webhooks/webhook-retries.ts';
import { type ConfiguredAuthorizer, configuredByFlags, configuredByText } from './authorization-configuration.ts';
import { openAuthorizationWebhook } from './authorization-webhook.ts';

/** The authorizer of a server. */
export interface Authorization {
  readonly authorize: Authorizer;
  /** Whether the Node authorizer is on, which uses the node graph. */
  readonly usesNodes: boolean;
  /** Aborts calls of webhooks and stops following the file. */
  readonly close: () => Promise<void>;
}

interface AuthorizationDependencies extends Pick<Dependencies, 'clock' | 'random' | 'log'> {
  readonly names: Names;
  readonly index: RbacIndex;
  readonly nodes: NodeGraph;
  readonly observer: AuthorizationObserver;
}

type Settings = AuthorizationSettings & Pick<ServerSettings, 'anonymousAuth'> & FeatureSettings;

/** A chain of authorizers. */
interface Chain {
  readonly authorize: Authorizer;
  readonly types: ReadonlySet<AuthorizationMode>;
  readonly close: () => void;
}

/** How long the webhooks of a replaced configuration stay open (ms): five attempts of 30 seconds. */
const retirementMs = 180_000;
/** Delay before the first retry of a webhook call (ms). */
const backoffMs = 500;

/** Opens the authorizers of the flags or the file, after that of `system:masters`. @throws StartError */
export async function openAuthorization(
  settings: Settings,
  dependencies: AuthorizationDependencies,
): Promise<Authorization> {
  const { log } = dependencies;
  const problem = authorizationProblem(settings);
  if (problem !== undefined) throw new StartError(problem);
  for (const warning of modeWarnings(settings)) log.warn(warning, {});
  const path = settings.authorizationConfig;
  if (path !== undefined) return openFromFile(path, settings, dependencies);
  const { authorize, types, close } = await openChain(
    configuredByFlags(settings, dependencies.names),
    settings,
    dependencies,
  );
  return { authorize, usesNodes: types.has('Node'), close: async () => close() };
}

/** The modes that a reload cannot add or remove: the followers that feed them start once. */
const fixed = ['RBAC', 'Node'] as const;

/** Opens the authorizers of a file and reloads it when it changes. */
async function openFromFile(
  path: string,
  settings: Settings,
  dependencies: AuthorizationDependencies,
): Promise<Authorization> {
  const { names, clock, log, observer } = dependencies;
  const read = () => readSettingFile('authorization-config', path);
  const open = async (text: string) => openChain(await configuredByText(path, text, names), settings, dependencies);
  const text = await read();
  let current = await open(text);
  const retired = new Set<Chain>();
  const retire = (chain: Chain) => {
    retired.delete(chain);
    chain.close();
  };
  const use = async (changed: string) => {
    const next = await open(changed);
    const other = fixed.find((mode) => current.types.has(mode) !== next.types.has(mode));
    if (other !== undefined) {
      next.close();
      throw new StartError(`--authorization-config: ${other} cannot be added or removed while the server runs`);
    }
    const before = current;
    current = next;
    retired.add(before);
    clock.after(retirementMs, () => retire(before));
  };
  const what = 'authorization configuration';
  const observe = (status: 'success' | 'failure') => observer.reloaded(status);
  const stop = followFile({ path, what, read, text, use, observe, clock, log });
  return {
    authorize: Object.assign((attributes: Attributes) => current.authorize(attributes), {
      rulesFor: (user: User, namespace: string) =>
        current.authorize.rulesFor?.(user, namespace) ?? Promise.reject(new Error('the authorizer has no rules')),
    }),
    usesNodes: current.types.has('Node'),
    close: async () => {
      await stop();
      for (const chain of [current, ...retired]) chain.close();
    },
  };
}

/** @throws StartError */
async function openChain(
  configured: readonly ConfiguredAuthorizer[],
  settings: Settings,
  dependencies: AuthorizationDependencies,
): Promise<Chain> {
  const { observer } = dependencies;
  const opened: { readonly close: () => void }[] = [];
  const close = () => {
    for (const one of opened) one.close();
  };
  const authorizers: Authorizer[] = [mastersAuthorizer];
  try {
    for (const one of configured) {
      const own = observer.authorizer(one.type, one.name);
      if (one.type === 'Webhook') {
        const { kubeconfig, timeoutMs, ...webhook } = one.webhook;
        const client = await openAuthorizationWebhook(kubeconfig, timeoutMs);
        opened.push(client);
        const { call } = client;
        authorizers.push(
          observedAuthorizer(webhookAuthorizer({ ...webhook, call }, optionsOf(one.name, dependencies)), own),
        );
      } else authorizers.push(observedAuthorizer(await standing[one.type](settings, dependencies), own));
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    authorize: unionAuthorizer(authorizers),
    types: new Set(configured.map(({ type }) => type)),
    close,
  };
}

function optionsOf(name: string, { names, clock, random, log, observer }: AuthorizationDependencies) {
  const warn = throttleWarnings(log, clock);
  return {
    names,
    clock,
    observer: observer.authorizer('Webhook', name),
    warn: (text: string, fields: { readonly [name: string]: unknown }) => warn(text, { name, ...fields }),
    pauses: () => retryPauses(backoffMs, random),
  };
}

type Standing = (settings: Settings, dependencies: AuthorizationDependencies) => Authorizer | Promise<Authorizer>;

/** @throws StartError */
async function openPolicies(path: string | undefined, names: Names): Promise<Authorizer> {
  if (path === undefined) throw new StartError('the authorizer ABAC needs --authorization-policy-file');
  const text = await readSettingFile('authorization-policy-file', path);
  try {
    return abacAuthorizer(parsePolicyFile(text, names));
  } catch (error) {
    throw new StartError(`--authorization-policy-file=${JSON.stringify(path)}: ${systemReason(error)}`, error);
  }
}

/** The authorizers that are not webhooks. */
const standing: { readonly [mode in Exclude<AuthorizationMode, 'Webhook'>]: Standing } = {
  AlwaysAllow: ({ authorizationConfig }) =>
    authorizationConfig === undefined ? alwaysAllowAuthorizer : identifiedAllowAuthorizer,
  AlwaysDeny: () => alwaysDenyAuthorizer,
  RBAC: (_, { index, names, log }) => rbacAuthorizer(index, names, log),
  Node: (settings, { nodes: graph, names }) => nodeAuthorizer({ graph, names, features: resolveFeatures(settings) }),
  ABAC: ({ authorizationPolicyFile: path }, { names }) => openPolicies(path, names),
};

/** A file may combine AlwaysAllow with anonymous requests: these are not allowed everything. */
const identifiedAllowAuthorizer: Authorizer = Object.assign(
  (attributes: Attributes) =>
    attributes.user.groups.includes(systemUnauthenticated) ? noOpinion : alwaysAllowAuthorizer(attributes),
  alwaysAllowAuthorizer,
);

/** Authorizes checks within a request. The request fails when no authorizer allows it and one has failed. */
export const resourceAuthorizer =
  (authorize: Authorizer): RegistryOptions['authorize'] =>
  async (user, { verb, ...resource }) => {
    const decision = await authorize({ user, verb, resource, path: '' });
    if (!decision.allowed && decision.error !== undefined) throw statusError.internal(decision.error);
    return decision;
  };
