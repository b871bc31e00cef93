/** Reads the definitions of custom resources from files, folders and servers. */
import { createClient, type HttpsOptions, httpsTransport, type ObjectList } from '../../client/index.ts';
import { DefinitionError, isDefinition, type Source } from '../../generate/index.ts';
import { type ApiObject, isJsonObject, type Json, StatusError } from '../../meta/index.ts';
import { StartError } from '../start-error.ts';
import { documentsOf, filesAt } from './manifest-files.ts';
import { groupsOf, serverOfKubeconfig } from './remote-server.ts';

/** Page size of lists: definitions are large. */
const pageSize = 50;

/** A definition, and the server that it comes from. */
export interface DefinitionSource extends Source {
  readonly server?: HttpsOptions;
}

/**
 * Reads the definitions of all sources of a setting, such as `--from`. @throws StartError for a source that cannot be read
 * or has none
 */
export async function definitionsOf(
  setting: string,
  sources: readonly string[],
  kubeconfig: string | undefined,
): Promise<DefinitionSource[]> {
  const definitions: DefinitionSource[] = [];
  for (const source of sources) {
    const name = `${setting}=${JSON.stringify(source)}`;
    const found = /^https?:\/\//.test(source)
      ? await ofUrl(setting, source, kubeconfig)
      : await ofPath(setting, source, name);
    if (found.length === 0) throw new StartError(`${name} has no definition of custom resources`);
    for (const one of found) definitions.push(one);
  }
  return definitions;
}

/** Returns the result of `read`, which reads definitions. @throws StartError for a definition that is not valid */
export function fromDefinitions<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DefinitionError) throw new StartError(error.message, error);
    throw error;
  }
}

async function ofUrl(setting: string, url: string, kubeconfig: string | undefined): Promise<DefinitionSource[]> {
  const { protocol, origin, pathname, username } = URL.canParse(url) ? new URL(url) : new URL('http://invalid');
  if (protocol !== 'https:' || pathname !== '/' || username !== '') {
    const shown = JSON.stringify(url.replace(/\/\/.*@/, '//'));
    throw new StartError(`${setting}=${shown} must be an https URL without a path and credentials`);
  }
  const known = kubeconfig === undefined ? {} : await serverOfKubeconfig('--kubeconfig', kubeconfig);
  return ofServer({ ...known, server: origin });
}

async function ofPath(setting: string, path: string, name: string): Promise<DefinitionSource[]> {
  const values: [where: string, value: Json][] = [];
  for (const file of await filesAt(path, name)) {
    for (const { value } of await documentsOf(file)) values.push([file, value]);
  }
  if (values.length === 1 && values[0]?.[0] === path && isKubeconfig(values[0][1]))
    return ofServer(await serverOfKubeconfig(setting, path));
  return values.flatMap(([where, value]) => definitionsIn(where, value));
}

const isKubeconfig = (value: Json | undefined): boolean =>
  isJsonObject(value) && value['kind'] === 'Config' && value['clusters'] !== undefined;

/** The definitions in a document, which may be a list. Other kinds are ignored. */
function definitionsIn(where: string, value: Json): Source[] {
  if (isDefinition(value)) return [{ where, definition: value }];
  const items = isJsonObject(value) ? value['items'] : undefined;
  return Array.isArray(items) ? items.filter(isDefinition).map((definition) => ({ where, definition })) : [];
}

/** The definitions of a server. @throws StartError */
async function ofServer(options: HttpsOptions): Promise<DefinitionSource[]> {
  const { server } = options;
  const transport = httpsTransport(options);
  const client = createClient({ transport });
  try {
    const groups = await groupsOf(client, server, 0);
    const group = groups.find((name) => name.startsWith('apiextensions.'));
    if (group === undefined) throw new StartError(`${server} has no definitions of custom resources`);
    const place = { apiVersion: `${group}/v1`, resource: 'customresourcedefinitions' };
    const definitions: DefinitionSource[] = [];
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page: ObjectList<ApiObject> = await client.list(place, {
        limit: pageSize,
        ...(token !== '' && { continue: token }),
      });
      for (const item of page.items) {
        // Items of a list have no apiVersion and kind.
        const definition = { ...item, apiVersion: place.apiVersion, kind: 'CustomResourceDefinition' };
        definitions.push({ where: `${server}: ${item.metadata.name}`, definition, server: options });
      }
      token = page.metadata.continue || undefined;
    }
    return definitions;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new StartError(`the definitions of ${server} cannot be read: ${error.message}`, error);
  } finally {
    transport.close();
  }
}
