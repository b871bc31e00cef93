import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePolicyFile, parseTokenFile } from '../../src/auth/index.ts';
import { defaultFeatures, statusError } from '../../src/meta/index.ts';
import { configuredByText as configuredAuthentication } from '../../src/server/access/authentication-configuration.ts';
import { configuredByText as configuredAuthorization } from '../../src/server/access/authorization-configuration.ts';
import { StartError } from '../../src/server/start-error.ts';
import { readWebhookConfig } from '../../src/server/webhooks/webhook-kubeconfig.ts';
import { names } from '../names.ts';
import { law, type Target } from '../target.ts';

/** A file of the operator that decides who somebody is, or what they may do. */
interface ConfigurationFile {
  readonly name: string;
  readonly seeds: readonly string[];
  readonly words: readonly string[];
  /** Reads a file. Throws StartError, or StatusError where the server makes a StartError of it. */
  readonly read: (text: string) => unknown;
}

const yamlWords = ['&a ', '*a', '<<: *a', '- ', ': ', '\n  ', '{', '}', '[', ']', '---\n', '"', "'", '|\n', '\uFEFF'];
const policyVersion = `abac.authorization.${names.labels}/v1beta1`;
const configVersion = `apiserver.config.${names.domain}/v1`;

const files: readonly ConfigurationFile[] = [
  {
    name: 'auth-policy-file',
    seeds: [
      `{"apiVersion":"${policyVersion}","kind":"Policy","spec":{"user":"ann","resource":"*","namespace":"n"}}\n# comment\n`,
      '{"user":"ann","readonly":true}\n{"group":"dev","resource":"pods"}\n',
    ],
    words: [
      '"user":',
      '"group":"*"',
      '"spec":{',
      '"__proto__":{"user":"*"}',
      '"readonly":true',
      '\n',
      '#',
      '\\u0000',
      '}{',
    ],
    read: (text) => {
      for (const { user, group } of parsePolicyFile(text, names)) {
        law(!`${user}${group}`.includes('\uFFFD'), 'a policy is for those whom its file names');
      }
    },
  },
  {
    name: 'auth-token-file',
    seeds: ['t,u,1\n\n "a""b",c,d,"e,f"\r\nx,y,z,\n'],
    words: [',', '"', '""', '\n', '\r\n', ' ', '\0'],
    read: (text) => {
      for (const { token, user } of parseTokenFile(text)) {
        law(!/[\0\uFFFD]/.test(token + user.name + user.groups.join()), 'a token is for the user whom its file names');
      }
    },
  },
  {
    name: 'server-webhook-kubeconfig',
    seeds: [
      'kind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n  cluster: {server: "https://a.example/b"}\nusers:\n- name: u\n  user: {token: t}\n',
      '{"kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"https://a","insecure-skip-tls-verify":true}}]}',
    ],
    words: [
      ...yamlWords,
      'certificate-authority-data: YQ==',
      'server: ',
      'https://',
      '__proto__: {server: x}',
      'exec: ',
    ],
    read: async (text) => {
      const { url, skipVerify, ca } = await readWebhookConfig('--file', written(text));
      law(url.protocol === 'https:' && url.username === '', 'a webhook is called over TLS');
      law(!(skipVerify && ca !== undefined), 'the certificate of a webhook is verified where its authority is known');
    },
  },
  {
    name: 'server-authorization-configuration',
    seeds: [
      `apiVersion: ${configVersion}\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n`,
      `apiVersion: ${configVersion}\nkind: AuthorizationConfiguration\nauthorizers:\n- type: Webhook\n  name: w\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: Deny\n    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /x}\n    matchConditions: [{expression: "request.user == 'a'"}]\n`,
    ],
    words: [
      ...yamlWords,
      'AlwaysAllow',
      'type: RBAC',
      'name: rbac',
      'webhook: ',
      'failurePolicy: NoOpinion',
      '__proto__: ',
    ],
    read: async (text) => {
      const authorizers = await configuredAuthorization('file', text, names);
      law(authorizers.length > 0, 'there is an authorizer');
      law(
        authorizers.every(({ type }) => type !== 'AlwaysAllow' || text.includes('AlwaysAllow')),
        'nothing is allowed that the file does not allow',
      );
    },
  },
  {
    name: 'server-authentication-configuration',
    seeds: [
      `apiVersion: ${configVersion}beta1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: "https://a.example", audiences: [a]}\n  claimMappings:\n    username: {claim: sub, prefix: ""}\n`,
      `apiVersion: ${configVersion}\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: "https://a.example", audiences: [a, b], audienceMatchPolicy: MatchAny}\n  claimValidationRules: [{expression: "claims.email_verified == true", message: m}]\n  claimMappings:\n    username: {expression: claims.email}\n    extra: [{key: example.com/a, valueExpression: claims.a}]\n  userValidationRules: [{expression: "user.username != ''"}]\nanonymous: {enabled: true, conditions: [{path: /livez}]}\n`,
    ],
    words: [...yamlWords, 'expression: ', 'claims.email', 'claim: ', 'prefix: ', 'enabled: true', '__proto__: '],
    read: (text) => {
      const rules = { names, features: defaultFeatures, serviceAccountIssuers: ['https://accounts.example'] };
      const { providers } = configuredAuthentication('file', text, rules, undefined);
      law(
        providers.every(({ issuer, audiences }) => issuer.startsWith('https://') && audiences.length > 0),
        'a provider is asked over TLS, and its tokens are for an audience',
      );
    },
  },
];

/** A file with this text, which lasts for one input. */
function written(text: string): string {
  folder ??= newFolder();
  const path = join(folder, 'configuration');
  writeFileSync(path, text);
  return path;
}

let folder: string | undefined;

function newFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'orch-fuzz-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

export const configurationTargets: readonly Target[] = files.map(({ name, seeds, words, read }) => ({
  name,
  words,
  seeds: seeds.map((text) => Buffer.from(text)),
  // They are read when the server starts, and when the operator has changed them.
  threadMs: 10_000,
  run: async (bytes) => {
    try {
      await read(Buffer.from(bytes).toString());
    } catch (error) {
      throw error instanceof StartError ? statusError.badRequest(error.message) : error;
    }
  },
}));
