package io.fibry.cluster.membership;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/**
 * Records the JFR events of nodes. The nested classes are loaded when JFR starts, because the JVM
 * takes long to load a class of events. Without the module jdk.jfr no nested class is loaded. No
 * method of this class may assign an object of a nested class to a variable of its superclass or
 * interface. The verifier would load the nested class, and fail without the module.
 */
public final class ClusterEvents {
  /**
   * One object of each event class; null until the recorder starts. Written by the thread that
   * starts it, before a recording begins, and read by all threads. Its fields are final, so each
   * thread that reads the object sees the prototypes.
   */
  private static NodePrototypes prototypes;

  static {
    if (isJfrPresent()) NodeRecorderStart.await();
  }

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
    var known = prototypes;
    if (known == null || !known.request.isEnabled()) return null;
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
    var known = prototypes;
    if (known == null || !known.pressure.isEnabled()) return null;
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
    var known = prototypes;
    if (known == null || !known.move.isEnabled()) return null;
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
    var known = prototypes;
    if (known == null || !known.heartbeat.isEnabled()) return null;
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
    var known = prototypes;
    if (known == null || !known.lapse.isEnabled()) return;
    var event = new LeaseLapseEvent();
    event.node = node;
    event.reason = reason;
    event.commit();
  }

  /** Makes the prototypes when the recorder starts, or at once if it has started. */
  private static final class NodeRecorderStart implements FlightRecorderListener {
    static void await() {
      FlightRecorder.addListener(new NodeRecorderStart());
    }

    @Override
    public void recorderInitialized(FlightRecorder recorder) {
      prototypes = new NodePrototypes();
    }
  }

  /** One object of each event class, which tells whether events of this class are recorded. */
  private static final class NodePrototypes {
    final RemoteRequestEvent request = new RemoteRequestEvent();
    final RemotePressureEvent pressure = new RemotePressureEvent();
    final PartitionMoveEvent move = new PartitionMoveEvent();
    final HeartbeatEvent heartbeat = new HeartbeatEvent();
    final LeaseLapseEvent lapse = new LeaseLapseEvent();
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
