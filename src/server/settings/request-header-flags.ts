import { type Flag, flag } from './flag.ts';
import * as type from './flag-types.ts';

const headerName = (text: string): string | undefined =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(text) ? undefined : `must be the name of a header; ${JSON.stringify(text)} is not`;

const headers = (help: string): Flag<readonly string[]> => flag('Identity', type.texts('header', headerName), [], help);

/** The flags of authenticating proxies. */
export const requestHeaderFlags = {
  requestheaderClientCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'Certificate authorities in PEM of authenticating proxies. A request over a connection with a client certificate that one of them signed is made by the user whom its headers name. A changed file takes effect within a minute.',
  ),
  requestheaderAllowedNames: flag(
    'Identity',
    type.texts('name', () => undefined),
    [],
    'Common names of the client certificates of authenticating proxies. Without any, every certificate of `--requestheader-client-ca-file` is that of a proxy.',
  ),
  requestheaderUsernameHeaders: headers(
    'Headers in which an authenticating proxy names the user: the first one that is not empty. `X-Remote-User` is usual.',
  ),
  requestheaderUidHeaders: headers(
    'Headers with the uid of that user: the first one that is not empty. When given, `X-Remote-Uid` must be among them. Needs the feature `RemoteRequestHeaderUID`.',
  ),
  requestheaderGroupHeaders: headers(
    'Headers with the groups of that user, one in each: all of them count. `X-Remote-Group` is usual.',
  ),
  requestheaderExtraHeadersPrefix: headers(
    'Prefixes of headers with extra attributes of that user: the rest of the name, percent-decoded, is the key. `X-Remote-Extra-` is usual.',
  ),
};
