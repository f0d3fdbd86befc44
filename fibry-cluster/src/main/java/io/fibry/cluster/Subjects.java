package io.fibry.cluster;

import java.util.Objects;

/** The subjects and keys of an app. */
record Subjects(String app) {
  private static final String NODES = "node.";

  Subjects {
    checkName("an app", app);
  }

  static boolean isName(String text) {
    return text.matches("[a-z][a-z0-9-]{0,63}");
  }

  /** A name that is a part of a subject as it stands. */
  static String checkName(String what, String name) {
    if (!isName(Objects.requireNonNull(name, "name")))
      throw new IllegalArgumentException(
          "'" + name.substring(0, Math.min(100, name.length())).strip() + "' cannot name "
              + what + ": take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return name;
  }

  /** The subject of an offered actor. */
  String ofName(String name) {
    return "fb." + app + ".n." + checkName("an actor", name);
  }

  /** Of news. */
  String ofTopic(String name) {
    return "fb." + app + ".t." + checkName("a topic", name);
  }

  /** The subject of a queue of work. */
  String ofQueue(String name) {
    return "fb." + app + ".w." + checkName("a queue", name);
  }

  /** The subject of parked work. */
  String ofParkedWork(String queue) {
    return ofQueue(queue) + ".aside";
  }

  /** In the table: of the form of all messages between nodes. */
  String keyOfForm() {
    return "fb." + app + ".form";
  }

  /** In the table. */
  String keyOfNode(String node) {
    return keysOfNodes() + checkName("a node", node);
  }

  String keysOfNodes() {
    return "fb." + app + "." + NODES;
  }

  /** The subject of messages to a part of the keys. */
  String ofPartition(String kind, int part) {
    return "fb." + app + ".e." + kind + "." + part;
  }

  /** The subject of messages to a node itself. */
  String ofNode(String node) {
    return "fb." + app + ".x." + node;
  }

  /**
   * The subject at which a node hears that another node has its requests. Programs that can only
   * ask hear it, too.
   */
  String ofClaims(String node) {
    return "fb." + app + ".a." + node + ".held";
  }

  /** The subject at which all nodes hear that the answer to a request is not awaited any more. */
  String ofCancel() {
    return "fb." + app + ".c";
  }

  /** In the table. */
  String keyOfPartition(String kind, int part) {
    return keysOfPartitions(kind) + part;
  }

  String keysOfPartitions(String kind) {
    return "fb." + app + ".part." + kind + ".";
  }

  /** In the table. */
  String keyOfKind(String kind) {
    return "fb." + app + ".kind." + checkName("a kind", kind);
  }
}
