/** Fixed credentials whose private keys nobody has: what authenticates is one of them, whatever else is tried. */

/** The key of an identity provider. */
export const providerJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'vnZOs9hQSaWQhuKE10L5F5d5Ak7UsRZQXX3Vtyexv74',
  y: 'EOIxo2JVjX9vLkFnJU3n-SAC2pkqLrtSVslCX3_Wrmk',
  kid: 'k',
};

/** The key of an issuer of service account tokens. */
export const accountsPem = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnALFk3VEi11yj3FYTuvHfhcYDuiE
MKY0B5yUBc8saGUrDpAtdABAqvQ5wylhmxNS3u+9skmJ4UEmhvKzoPwAMQ==
-----END PUBLIC KEY-----
`;

/** An ID token of `https://p.example` for jane, until 2033. */
export const providerToken =
  'eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ.eyJpc3MiOiJodHRwczovL3AuZXhhbXBsZSIsImF1ZCI6Im9yY2giLCJzdWIiOiJqY' +
  'W5lIiwiZ3JvdXBzIjpbImEiXSwiZXhwIjoyMDAwMDAwMDAwfQ.WymXVXHkP_vGDyFYtjgRpyFmNMTLx1vv_KrqF4w2G9NUc-uhzh' +
  'CULgfwPDTCcrNGR8_dDBHXwNvOScnImQSe5w';

/** A token of `https://a.example` for the service account `n/s` with the uid `u`, until 2033. */
export const accountToken =
  'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2EuZXhhbXBsZSIsImF1ZCI6WyJodHRwczovL2EuZXhhbXBsZSJdLCJzdWI' +
  'iOiJzeXN0ZW06c2VydmljZWFjY291bnQ6bjpzIiwiZXhwIjoyMDAwMDAwMDAwLCJvcmNoLmlvIjp7Im5hbWVzcGFjZSI6Im4iLCJ' +
  'zZXJ2aWNlYWNjb3VudCI6eyJuYW1lIjoicyIsInVpZCI6InUifX19.NGRnWv_vIA_heeCWjUU0yiZdiXyIeyayGzoZcsEP7lnlik' +
  'zcMg7OmmYfSynfK_tzh_EXTTSS2iXxUzTMMHL3UA';

/** An authority, valid until 2049. */
export const root = `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIQYaNHw3rEzeEqVeWl8q+weDAKBggqhkjOPQQDAjAPMQ0w
CwYDVQQDDARyb290MB4XDTcwMDEwMTAwMDAwMFoXDTQ5MDEwMTAwMDAwMFowDzEN
MAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMkG/p4dlHZT
TbjIgXRWlG8nfNTP5IXuOLAOkc/8D4O8eI8N4jnwwuQzqYTRvkFhA3qABl7+Ourr
cKDPLfEaaMijYzBhMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgGGMB0G
A1UdDgQWBBQ0ORW1odLaZrmliBQFeAU65hxpxTAfBgNVHSMEGDAWgBQ0ORW1odLa
ZrmliBQFeAU65hxpxTAKBggqhkjOPQQDAgNJADBGAiEAh5AopCB9ShM4NntzssL0
+fNrXTBaElQVp3szeT0R6CkCIQDvqKn+X1zkFBIDJagVjjqEPTwPuAkC73TG69gq
yT6uxg==
-----END CERTIFICATE-----
`;

/** An authority that the first one has signed. */
export const middle = `-----BEGIN CERTIFICATE-----
MIIBgTCCASegAwIBAgIQScWP9eJ4ZEUKBRLKhuglnjAKBggqhkjOPQQDAjAPMQ0w
CwYDVQQDDARyb290MB4XDTcwMDEwMTAwMDAwMFoXDTQ5MDEwMTAwMDAwMFowETEP
MA0GA1UEAwwGbWlkZGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECQt9lUPj
+PuVPb3fmz2gwqWi411SVMvS1OJuuHaCbXsuqiqC/oa9cBua9qW6emElq1pK6DU/
KXTPIFdFgCrGqaNjMGEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAYYw
HQYDVR0OBBYEFD1R2wq3LJM8FxUZ1tdzrV0jZSAGMB8GA1UdIwQYMBaAFDQ5FbWh
0tpmuaWIFAV4BTrmHGnFMAoGCCqGSM49BAMCA0gAMEUCIB0VTB+O/9EF59sUMEtO
YKP/WIfi+5auKT90/x0tRFNsAiEA60q2ruO7WBzHu9f35Y/rEyrr9/Zd+WPPax80
2bMxvLw=
-----END CERTIFICATE-----
`;

/** A client certificate of `ann` in the organization `dev`, which the first authority has signed. */
export const ann = `-----BEGIN CERTIFICATE-----
MIIBnjCCAUSgAwIBAgIQVYgWDCDrX04WZXXm7e/z6TAKBggqhkjOPQQDAjAPMQ0w
CwYDVQQDDARyb290MB4XDTcwMDEwMTAwMDAwMFoXDTQ5MDEwMTAwMDAwMFowHDEM
MAoGA1UECgwDZGV2MQwwCgYDVQQDDANhbm4wWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAATHK3qIV9r71inuPzPTbs09GWEavHYLsSuhy+bqARJDB5S62XYZE8YTX0fC
tlf3GPNcSFSluYBA/SXr5xuHYFFro3UwczAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB
/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcDAjAdBgNVHQ4EFgQU284pMJxWiup8
0bGInA/K0LM+6/8wHwYDVR0jBBgwFoAUNDkVtaHS2ma5pYgUBXgFOuYcacUwCgYI
KoZIzj0EAwIDSAAwRQIgJxRkbS/rFxdmMDuydOPDlptORt6YrKeZmpZXpFXdxucC
IQCmLpdcp8LT6Evq9lDcTKKtjsCKqDVH0Wz3SiTTzMu4VA==
-----END CERTIFICATE-----
`;

/** A client certificate of `low` in the organization `dev`, which the second authority has signed. */
export const low = `-----BEGIN CERTIFICATE-----
MIIBoDCCAUagAwIBAgIQYG/YX6oR6TxM80NWYc1+/jAKBggqhkjOPQQDAjARMQ8w
DQYDVQQDDAZtaWRkbGUwHhcNNzAwMTAxMDAwMDAwWhcNNDkwMTAxMDAwMDAwWjAc
MQwwCgYDVQQKDANkZXYxDDAKBgNVBAMMA2xvdzBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABPgOop4f8TSKbSsVrjiCFMZWt8t/rCAgX/Ln/zwGkLuK7t09U/Swvoy5
hbgTze3sNhDG7BpuKSatK0yKCEGWkNOjdTBzMAwGA1UdEwEB/wQCMAAwDgYDVR0P
AQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMCMB0GA1UdDgQWBBRV06x5PC5e
LYDHxqaM4HHmQN0OIzAfBgNVHSMEGDAWgBQ9UdsKtyyTPBcVGdbXc61dI2UgBjAK
BggqhkjOPQQDAgNIADBFAiBmAWSNKAJMnKPm9u58yhf4ZFzwFoBJJw+vcXToqL3b
EAIhAI1m3PsKMOT4uuyPeKOFXHBl3TbK2avqSFxYhvGxzKEP
-----END CERTIFICATE-----
`;
