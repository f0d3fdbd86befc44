package io.fibry.cluster.membership;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/**
 * Records the JFR events of nodes. This costs nothing until JFR starts and instruments the nested
 * classes. Without the module jdk.jfr the constant events are null, and no nested class is loaded.
 * No method of this class may assign an object of a nested class to a variable of its superclass.
 * The verifier would load the nested class, and fail without the module.
 */
public final class ClusterEvents {
  private static final boolean IS_JFR_PRESENT = isJfrPresent();
  private static final RemoteRequestEvent REQUEST = IS_JFR_PRESENT ? new RemoteRequestEvent() : null;
  private static final RemotePressureEvent PRESSURE = IS_JFR_PRESENT ? new RemotePressureEvent() : null;
  private static final PartitionMoveEvent MOVE = IS_JFR_PRESENT ? new PartitionMoveEvent() : null;
  private static final HeartbeatEvent HEARTBEAT = IS_JFR_PRESENT ? new HeartbeatEvent() : null;
  private static final LeaseLapseEvent LAPSE = IS_JFR_PRESENT ? new LeaseLapseEvent() : null;

  private ClusterEvents() {}

  private static boolean isJfrPresent() {
    try {
      Class.forName("jdk.jfr.Event", false, ClusterEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError failure) {
      return false;
    }
  }

  // ---- messages to other nodes

  /** Begins the event of a request. Returns null if requests are not recorded. */
  public static Object beginRequest() {
    if (REQUEST == null || !REQUEST.isEnabled()) return null;
    var event = new RemoteRequestEvent();
    event.begin();
    return event;
  }

  /** Records the end of a request; {@code failure} is null if the request was answered. */
  public static void endRequest(Object startedEvent, String actor, Object message, int attempts, Throwable failure) {
    var event = (RemoteRequestEvent) startedEvent;
    event.end();
    if (!event.shouldCommit()) return;
    event.actor = actor;
    event.messageType = message.getClass();
    event.attempts = attempts;
    event.outcome = failure == null ? "answered" : failure.getClass().getName();
    event.commit();
  }

  /**
   * Begins the event of a sender that waits for capacity. Returns null if waits are not recorded.
   */
  public static Object beginWait() {
    if (PRESSURE == null || !PRESSURE.isEnabled()) return null;
    var event = new RemotePressureEvent();
    event.begin();
    return event;
  }

  public static void endWait(Object startedEvent, String actor, boolean hasCapacity) {
    if (startedEvent == null) return;
    var event = (RemotePressureEvent) startedEvent;
    event.end();
    event.actor = actor;
    event.outcome = hasCapacity ? "waited" : "waited without success";
    event.commit();
  }

  // ---- partitions

  /** Begins the event of a move. Returns null if moves are not recorded. */
  public static Object beginMove() {
    if (MOVE == null || !MOVE.isEnabled()) return null;
    var event = new PartitionMoveEvent();
    event.begin();
    return event;
  }

  public static void endMove(Object startedEvent, String node, String kind, int partition, String result) {
    if (startedEvent == null) return;
    var event = (PartitionMoveEvent) startedEvent;
    event.end();
    event.node = node;
    event.kind = kind;
    event.partition = partition;
    event.outcome = result;
    event.commit();
  }

  // ---- leases

  /** Begins the event of a heartbeat. Returns null if heartbeats are not recorded. */
  static Object beginHeartbeat() {
    if (HEARTBEAT == null || !HEARTBEAT.isEnabled()) return null;
    var event = new HeartbeatEvent();
    event.begin();
    return event;
  }

  static void endHeartbeat(Object startedEvent, String node, String outcome) {
    if (startedEvent == null) return;
    var event = (HeartbeatEvent) startedEvent;
    event.end();
    if (!event.shouldCommit()) return;
    event.node = node;
    event.outcome = outcome;
    event.commit();
  }

  static void recordLapse(String node, String reason) {
    if (LAPSE == null || !LAPSE.isEnabled()) return;
    var event = new LeaseLapseEvent();
    event.node = node;
    event.reason = reason;
    event.commit();
  }

  @Name("fibry.RemoteRequest")
  @Label("Remote Request")
  @Description("A request, or a batch of messages without answers, that may go to another node")
  @Category("Fibry")
  @Threshold("20 ms")
  @StackTrace(false)
  private static final class RemoteRequestEvent extends Event {
    @Label("Actor")
    String actor;
    @Label("Message Type")
    @Description("The class of the request; TellBundle if it contains several messages without answers")
    Class<?> messageType;
    @Label("Attempts")
    @Description("How often the request was sent; it is sent again while no node owns its partition")
    int attempts;
    @Label("Outcome")
    @Description("Answered, or the class of the failure")
    String outcome;
  }

  @Name("fibry.RemotePressure")
  @Label("Remote Pressure")
  @Description("A sender waited because too many bytes were in flight to another node")
  @Category("Fibry")
  private static final class RemotePressureEvent extends Event {
    @Label("Actor")
    String actor;
    @Label("Outcome")
    @Description("Waited, or waited without success")
    String outcome;
  }

  @Category("Fibry")
  @StackTrace(false)
  private abstract static class NodeEvent extends Event {
    @Label("Node")
    String node;
  }

  @Name("fibry.PartitionMove")
  @Label("Partition Move")
  @Description("A partition of a kind has come to a node, has left it, or was lost with the node's lease; "
      + "its messages wait during the move")
  private static final class PartitionMoveEvent extends NodeEvent {
    @Label("Kind")
    String kind;
    @Label("Partition")
    int partition;
    @Label("Outcome")
    @Description("Taken, given to another node, or lost")
    String outcome;
  }

  @Name("fibry.Heartbeat")
  @Label("Heartbeat")
  @Description("Renews the lease of a node, five times in a lease")
  @Threshold("20 ms")
  private static final class HeartbeatEvent extends NodeEvent {
    @Label("Outcome")
    @Description("Confirmed, or why not")
    String outcome;
  }

  @Name("fibry.LeaseLapse")
  @Label("Lease Lapse")
  @Description("A node considered itself dead, and joins again")
  private static final class LeaseLapseEvent extends NodeEvent {
    @Label("Reason")
    String reason;
  }
}
