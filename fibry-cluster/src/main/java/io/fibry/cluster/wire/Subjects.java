package io.fibry.cluster.wire;

import java.util.Objects;

/** The subjects of messages, and the keys of table entries, of an app. */
public record Subjects(String app) {
  private static final String NODES = "node.";

  public Subjects {
    checkName("an app", app);
  }

  public static boolean isName(String text) {
    return text.matches("[a-z][a-z0-9-]{0,63}");
  }

  /**
   * Returns the name if a subject can contain it without escapes; otherwise throws an exception.
   */
  public static String checkName(String namedThing, String name) {
    if (!isName(Objects.requireNonNull(name, "name")))
      throw new IllegalArgumentException(
          "'" + name.substring(0, Math.min(100, name.length())).strip() + "' cannot name "
              + namedThing + ": take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return name;
  }

  /** {@return the subject of the actor that is offered by a name} */
  public String ofActor(String name) {
    return "fb." + app + ".n." + checkName("an actor", name);
  }

  /** {@return the subject of the messages of a topic} */
  public String ofTopic(String name) {
    return "fb." + app + ".t." + checkName("a topic", name);
  }

  /** {@return the subject of a queue of work} */
  public String ofQueue(String name) {
    return "fb." + app + ".w." + checkName("a queue", name);
  }

  /** {@return the subject of the parked work of a queue} */
  public String ofParkedWork(String queue) {
    return ofQueue(queue) + ".aside";
  }

  /** {@return the key of the entry with the version of the messages between nodes} */
  String keyOfMessageVersion() {
    return "fb." + app + ".form";
  }

  /** {@return the key of the entry of a node} */
  public String keyOfNode(String node) {
    return nodeKeyPrefix() + checkName("a node", node);
  }

  /** {@return the prefix of the keys of all nodes} */
  public String nodeKeyPrefix() {
    return "fb." + app + "." + NODES;
  }

  /** {@return the subject of messages to a partition} */
  public String ofPartition(String kind, int partition) {
    return "fb." + app + ".e." + kind + "." + partition;
  }

  /** {@return the subject of messages to a node itself} */
  public String ofNode(String node) {
    return "fb." + app + ".x." + node;
  }

  /**
   * Returns the subject of keep-alives, by which other nodes tell a node that they have its
   * requests. Programs that may only send requests subscribe to this subject, too.
   */
  public String ofKeepAlives(String node) {
    return "fb." + app + ".a." + node + ".held";
  }

  /**
   * {@return the subject of cancellations, by which all nodes learn that an asker stopped waiting}
   */
  public String ofCancellations() {
    return "fb." + app + ".c";
  }

  /** {@return the key of the entry with the owner of a partition} */
  public String keyOfPartition(String kind, int partition) {
    return partitionKeyPrefix(kind) + partition;
  }

  /** {@return the prefix of the keys of all partitions of a kind} */
  public String partitionKeyPrefix(String kind) {
    return "fb." + app + ".part." + kind + ".";
  }

  /** {@return the key of the entry with the number of partitions of a kind} */
  public String keyOfKind(String kind) {
    return "fb." + app + ".kind." + checkName("a kind", kind);
  }
}
