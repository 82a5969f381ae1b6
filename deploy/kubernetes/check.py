# SPDX-License-Identifier: Apache-2.0

"""Checks rendered objects beyond their schemas.

Usage: check.py EXAMPLE.yaml widgetlab.yaml: every container is confined and probed, every volume exists, every file that a
process reads is in the secret or the config map that is mounted there, and ports and names agree with the configuration.
       check.py BASE.yaml --job-script: prints the script of the job's container.
"""

import base64
import sys

import yaml

with open(sys.argv[1]) as file:
    objects = [one for one in yaml.safe_load_all(file) if one]
named = {(one["kind"], one["metadata"]["name"]): one for one in objects}
faults = []


def check(condition, text):
    if not condition:
        faults.append(text)


def template(one):
    return one["spec"]["template"]["spec"]


def keys(volume):
    """The files of a volume, or None for a volume that processes fill."""
    if "configMap" in volume:
        one = named.get(("ConfigMap", volume["configMap"]["name"]))
    elif "secret" in volume:
        one = named.get(("Secret", volume["secret"]["secretName"]))
    else:
        return None
    check(one, f"{volume['name']}: its object does not exist")
    return set((one or {}).get("data", {}))


def check_container(owner, pod, container, volumes):
    name = f"{owner['kind']} {owner['metadata']['name']}, container {container['name']}"
    context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
    check(context.get("runAsNonRoot") is True and context.get("runAsUser") == 10001, f"{name} may run as root")
    check(context.get("readOnlyRootFilesystem") is True, f"{name} can write its root file system")
    check(context.get("allowPrivilegeEscalation") is False, f"{name} may get privileges")
    check(context.get("capabilities") == {"drop": ["ALL"]}, f"{name} has capabilities")
    check(context.get("seccompProfile") == {"type": "RuntimeDefault"}, f"{name} has no profile of system calls")
    check("memory" in container.get("resources", {}).get("limits", {}), f"{name} has no limit of memory")
    if owner["kind"] != "Job":
        for probe in ("readinessProbe", "livenessProbe"):
            check(probe in container, f"{name} has no {probe}")
    places = {}
    for mount in container.get("volumeMounts", []):
        volume = volumes.get(mount["name"])
        check(volume, f"{name}: no volume {mount['name']}")
        check(mount["mountPath"] not in places, f"{name}: {mount['mountPath']} twice")
        files = keys(volume) if volume else None
        if files is not None and "subPath" in mount:
            check(mount["subPath"] in files, f"{name}: {mount['name']} has no {mount['subPath']}")
        places[mount["mountPath"]] = files
    return name, places


def check_files(name, places):
    """The files that the processes of the bus read below the instance folder."""
    instance = "/cluster/.widgetlab/default"
    holder = {
        "host-system": "host", "containing-app": "agent-1", "widget-extension": "agent-2", "push-server": "push-server",
        "message-bus": "message-bus",
    }.get(name.split("container ")[1])
    if holder is None:
        return
    check(places.get(f"{instance}/keys/{holder}") == {"key.json"}, f"{name} has no key")
    check(places.get(f"{instance}/keys/watcher") == {"key.json"}, f"{name}: its probes have no key")
    others = [path for path in places if path.startswith(f"{instance}/keys/") and path.split("/")[-1] not in (holder, "watcher")]
    check(not others, f"{name} has keys of others: {others}")
    if holder == "message-bus":
        check("push-server.json" in (places.get(f"{instance}/known") or ()), f"{name} does not know the push server")
    else:
        check(places.get(f"{instance}/bus") == {"bus.json"}, f"{name} does not find the bus")
    if holder == "push-server":
        credentials = f"{instance}/push-server/credentials"
        check(places.get(f"{credentials}/server") == {"server.pem", "server-key.pem"}, f"{name} has no certificate")
        check({"ca.pem", "provider.json"} <= (places.get(f"{credentials}/provider") or set()), f"{name} has no providers")


def check_all(configuration):
    workloads = [one for one in objects if one["kind"] in ("StatefulSet", "Deployment", "Job")]
    for owner in workloads:
        pod = template(owner)
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        volumes.update({claim["metadata"]["name"]: {"name": claim["metadata"]["name"]}
                        for claim in owner["spec"].get("volumeClaimTemplates", [])})
        check(pod.get("automountServiceAccountToken") is False, f"{owner['metadata']['name']} gets a token of the cluster")
        for container in pod["containers"]:
            check_files(*check_container(owner, pod, container, volumes))
        if owner["kind"] != "Job":
            selector = owner["spec"]["selector"]["matchLabels"]
            labels = owner["spec"]["template"]["metadata"]["labels"]
            check(selector.items() <= labels.items(), f"{owner['metadata']['name']} does not select its pods")
    for secret in (one for one in objects if one["kind"] == "Secret"):
        for name, value in secret.get("data", {}).items():
            check(base64.b64decode(value).strip(), f"{secret['metadata']['name']}: {name} is empty")
            check(b"authority" not in name.encode(), f"{secret['metadata']['name']} has the key of the authority")
    push = configuration["pushServer"]
    ports = {port["port"] for port in named[("Service", "push-server")]["spec"]["ports"]}
    check(ports == {push["developmentPort"], push["productionPort"]}, f"the service push-server has the ports {ports}")
    check(("Service", push["advertise"]) in named, f"no service has the name {push['advertise']}")
    job = named[("Job", "chaos")]["spec"]
    check(job["completionMode"] == "Indexed", "the job has no indices")
    check(f"--shard auto/{job['completions']} " in job_script(), "the job's parts are not its completions")
    budget = named[("PodDisruptionBudget", "push-server")]["spec"]
    check(budget["minAvailable"] < named[("Deployment", "push-server")]["spec"]["replicas"], "no replica may be evicted")


def job_script():
    return template(named[("Job", "chaos")])["containers"][0]["args"][2]


if sys.argv[2] == "--job-script":
    print(job_script())
else:
    with open(sys.argv[2]) as file:
        check_all(yaml.safe_load(file))
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))
