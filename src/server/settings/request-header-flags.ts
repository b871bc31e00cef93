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
    'CA bundle in PEM for the client certificates of authenticating proxies. A request over a connection with such a certificate is authenticated as the user in its headers. A changed file takes effect within a minute.',
  ),
  requestheaderAllowedNames: flag(
    'Identity',
    type.texts('name', () => undefined),
    [],
    'Allowed common names in the client certificates of authenticating proxies. If not set, every certificate of `--requestheader-client-ca-file` is accepted.',
  ),
  requestheaderUsernameHeaders: headers(
    'Headers with the user name; the first one that is not empty counts. `X-Remote-User` is common.',
  ),
  requestheaderUidHeaders: headers(
    'Headers with the uid of the user; the first one that is not empty counts. Must include `X-Remote-Uid`. Requires the feature `RemoteRequestHeaderUID`.',
  ),
  requestheaderGroupHeaders: headers(
    'Headers with the groups of the user, one group per header. `X-Remote-Group` is common.',
  ),
  requestheaderExtraHeadersPrefix: headers(
    'Prefixes of headers with extra attributes of the user; the percent-decoded rest of the header name is the key. `X-Remote-Extra-` is common.',
  ),
};
