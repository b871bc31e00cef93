/** Conversion of custom kinds as their definitions say: by name, or by a webhook. */
import { buffer } from 'node:stream/consumers';
import { type HttpsOptions, httpsTransport } from '../../client/index.ts';
import { customResources } from '../../extensions/index.ts';
import { readDefinition } from '../../generate/index.ts';
import {
  type ApiObject,
  atOnce,
  type ByteString,
  bufferOf,
  defaultFeatures,
  systemClock,
  systemRandom,
} from '../../meta/index.ts';
import type { WebhookClientConfig } from '../../types/apiextensions-v1.ts';
import { registeredWebhooks } from '../webhooks/registered-webhooks.ts';
import { customKey, type KindVersions, objectOf } from './convert-manifest.ts';
import { type DefinitionSource, fromDefinitions } from './definition-sources.ts';

/** Timeout of a conversion (ms), and maximum number of concurrent calls of a webhook. */
const conversionMs = 30_000;
const maxConversions = 4;

type Post = (body: ByteString) => Promise<Uint8Array>;
type Transport = ReturnType<typeof httpsTransport>;

export interface ConversionWebhooks {
  /** Calls a webhook by its URL, or as a service of the server that has the definition. */
  postTo(config: WebhookClientConfig, server: HttpsOptions | undefined): Post;
  close(): void;
}

export function openConversionWebhooks(): ConversionWebhooks {
  const locateService = () => Promise.reject(new Error('services are called through the server'));
  const registered = registeredWebhooks({ locateService });
  const transports = new Map<HttpsOptions, Transport>();
  const transportOf = (server: HttpsOptions): Transport => {
    const transport = transports.get(server) ?? httpsTransport(server);
    transports.set(server, transport);
    return transport;
  };
  const serviceOf = ({ namespace = '', name = '', port = 443, path = '' }: Service, server: HttpsOptions): Post => {
    const service = encodeURIComponent(`https:${name}:${port}`);
    const url = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${service}/proxy${path}`;
    return async (body) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const signal = AbortSignal.timeout(conversionMs);
      const answer = await transportOf(server)({ method: 'POST', url, headers, body: bufferOf(body), signal });
      const bytes = await buffer(answer.body);
      if (answer.status === 200) return bytes;
      throw new Error(`the service ${namespace}/${name} answered through the server with status ${answer.status}`);
    };
  };
  return {
    postTo: (config, server) => {
      const { url, service } = config;
      if (typeof url === 'string' || service === undefined) {
        const call = registered.postTo(config, maxConversions);
        return (body) => call(body, conversionMs);
      }
      if (server !== undefined) return serviceOf(service, server);
      const why = `the service ${service.namespace}/${service.name} is reachable through its server only, which --definitions must name`;
      return () => Promise.reject(new Error(why));
    },
    close: () => {
      registered.close();
      for (const transport of transports.values()) transport.close();
    },
  };
}

type Service = NonNullable<WebhookClientConfig['service']>;

/** The kinds of definitions in all versions, also those that are not served, by {@link customKey}. @throws StartError */
export function customKinds(
  sources: readonly DefinitionSource[],
  webhooks: ConversionWebhooks,
): ReadonlyMap<string, KindVersions> {
  return new Map(sources.map((source) => customKind(source, webhooks)));
}

function customKind(source: DefinitionSource, webhooks: ConversionWebhooks): [key: string, KindVersions] {
  const { names, definition } = fromDefinitions(() => readDefinition(source));
  const { group = '', names: { kind = '' } = {}, versions = [] } = definition.spec ?? {};
  const spec = { ...definition.spec, versions: versions.map((version) => ({ ...version, served: true })) };
  const resources = customResources(
    { spec },
    {
      names,
      features: defaultFeatures,
      conversion: {
        random: systemRandom,
        clock: systemClock,
        observe: () => {},
        postTo: (config) => webhooks.postTo(config, source.server),
      },
    },
  );
  const shownIn = new Map([...resources].map(([version, resource]) => [`${group}/${version}`, resource]));
  const convert = async (object: ApiObject, to: string): Promise<ApiObject> => {
    const { webhook, fromStored } = shownIn.get(to)?.custom ?? {};
    const [converted] = (await webhook?.([object], to)) ?? [{ ...object }];
    if (converted === undefined || fromStored === undefined) throw new Error(`${to} has no ${kind}`);
    if (webhook === undefined) atOnce(fromStored(converted));
    return converted;
  };
  return [
    customKey(group, kind),
    {
      apiVersions: [...shownIn.keys()],
      show: async (manifest, from, to) => {
        const type = shownIn.get(from)?.versions.find(({ version }) => `${group}/${version}` === from)?.type;
        if (type === undefined) throw new Error(`${from} has no ${kind}`);
        const { value, unknown } = type.decode(manifest);
        const object = objectOf(value, { kind, apiVersion: from });
        return { object: from === to ? object : await convert(object, to), unknown };
      },
    },
  ];
}
