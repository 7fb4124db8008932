"""Object storage for a test: the server of moto, which checks keys, signatures and policies, and boto3 as another's client.

Prints a line of JSON with the address and the keys, then answers lines of JSON on standard input, until that ends:
{"do": "list", "bucket": …}                          objects with their sizes, and uploads that are not complete with their parts
{"do": "fetch", "bucket": …, "key": …, "to": FILE}   writes an object to a file
{"do": "put", "bucket": …, "key": …, "text": …}
{"do": "delete", "bucket": …, "key": …}
Exits 3 when moto is not installed. Arguments: the bucket, then perhaps files with a certificate and its key, for TLS.
"""

import json
import logging
import sys
import threading

try:
    import boto3
    from moto import settings
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from moto.s3.exceptions import NoSuchUpload
    from moto.s3.models import S3Backend
    from werkzeug.serving import make_server
except ImportError:
    sys.exit(print("moto is not installed", file=sys.stderr) or 3)

REGION = "eu-north-1"
# What docs/archive.md says that an export needs, and no more.
RIGHTS = [
    {"Effect": "Allow", "Action": ["s3:PutObject", "s3:GetObject", "s3:AbortMultipartUpload"], "Resource": "arn:aws:s3:::%s/*"},
    {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": "arn:aws:s3:::%s"},
]

upload_part = S3Backend.upload_part


def upload_part_as_s3(backend, bucket_name, multipart_id, *further):
    """S3 knows no upload that was aborted. moto ends with a KeyError, status 500."""
    if multipart_id not in backend.get_bucket(bucket_name).multiparts:
        raise NoSuchUpload(upload_id=multipart_id)
    return upload_part(backend, bucket_name, multipart_id, *further)


S3Backend.upload_part = upload_part_as_s3
bucket, tls = sys.argv[1], tuple(sys.argv[2:]) or None
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True, ssl_context=tls)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"{'https://localhost' if tls else 'http://127.0.0.1'}:{server.port}"


def client(service, key, secret):
    verify = tls[0] if tls else None
    return boto3.client(service, endpoint_url=address, region_name=REGION, aws_access_key_id=key,
                        aws_secret_access_key=secret, verify=verify)


def user(name, statements):
    iam = client("iam", "any", "any")
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": statements}))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return key["AccessKeyId"], key["SecretAccessKey"]


client("s3", "any", "any").create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
exporter = user("exporter", [dict(right, Resource=right["Resource"] % bucket) for right in RIGHTS])
anywhere = RIGHTS[0]["Resource"] % bucket
reading = [dict(RIGHTS[1], Resource=RIGHTS[1]["Resource"] % bucket), dict(RIGHTS[0], Action=["s3:GetObject"], Resource=anywhere)]
reader = user("reader", reading)
# May write objects, but no progress.
half = user("half", reading + [dict(RIGHTS[0], Resource=f"{anywhere}/recrawl-*")])
owner = user("owner", [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}])
# From here on nobody does anything without a key and a right.
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
storage = client("s3", *owner)
print(json.dumps({"url": address, "region": REGION, "exporter": exporter, "reader": reader, "half": half, "owner": owner}), flush=True)

for line in sys.stdin:
    order = json.loads(line)
    place = {"Bucket": order["bucket"]}
    answer = {}
    match order["do"]:
        case "list":
            pages = storage.get_paginator("list_objects_v2").paginate(**place)
            answer["objects"] = {found["Key"]: found["Size"] for page in pages for found in page.get("Contents", [])}
            answer["uploads"] = []
            for upload in storage.list_multipart_uploads(**place).get("Uploads", []):
                try:
                    parts = storage.list_parts(Key=upload["Key"], UploadId=upload["UploadId"], **place).get("Parts", [])
                    answer["uploads"].append([upload["Key"], len(parts)])
                except storage.exceptions.NoSuchUpload:
                    pass  # completed meanwhile
        case "fetch":
            storage.download_file(Key=order["key"], Filename=order["to"], **place)
        case "put":
            storage.put_object(Key=order["key"], Body=order["text"].encode(), **place)
        case "delete":
            storage.delete_object(Key=order["key"], **place)
        case other:
            raise ValueError(other)
    print(json.dumps(answer), flush=True)
