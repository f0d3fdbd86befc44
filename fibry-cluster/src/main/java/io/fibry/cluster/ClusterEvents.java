package io.fibry.cluster;

import io.fibry.text.Lines;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/**
 * What a flight recording sees of nodes. It costs nothing until the recorder starts and rewrites
 * the nested classes. Without the module of the recorder the prototypes are null, and no nested
 * class is loaded. No method here may use a nested class as its superclass, or the verifier would
 * load it.
 */
final class ClusterEvents {
  private static final boolean PRESENT = present();
  private static final RemoteRequestEvent REQUEST = PRESENT ? new RemoteRequestEvent() : null;
  private static final RemotePressureEvent PRESSURE = PRESENT ? new RemotePressureEvent() : null;
  private static final PartitionMoveEvent MOVE = PRESENT ? new PartitionMoveEvent() : null;
  private static final HeartbeatEvent SIGN = PRESENT ? new HeartbeatEvent() : null;
  private static final LeaseLapseEvent LAPSE = PRESENT ? new LeaseLapseEvent() : null;

  private ClusterEvents() {}

  private static boolean present() {
    try {
      Class.forName("jdk.jfr.Event", false, ClusterEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError absent) {
      return false;
    }
  }

  // ---- messages to other nodes

  /** Returns null if requests are not recorded. */
  static Object beginRequest() {
    if (REQUEST == null || !REQUEST.isEnabled()) return null;
    var event = new RemoteRequestEvent();
    event.begin();
    return event;
  }

  /** A null {@code failure}: it was answered. */
  static void endRequest(Object begun, String actor, Object message, int sent, Throwable failure) {
    var event = (RemoteRequestEvent) begun;
    event.end();
    if (!event.shouldCommit()) return;
    event.actor = actor;
    event.messageType = message.getClass();
    event.sent = sent;
    event.ended = failure == null ? "answered" : failure.getClass().getName();
    event.commit();
  }

  /** Returns null if waits are not recorded. A sender waits for room. */
  static Object beginWait() {
    if (PRESSURE == null || !PRESSURE.isEnabled()) return null;
    var event = new RemotePressureEvent();
    event.begin();
    return event;
  }

  static void endWait(Object begun, String actor, boolean room) {
    if (begun == null) return;
    var event = (RemotePressureEvent) begun;
    event.end();
    event.actor = actor;
    event.happened = room ? "waited" : "waited in vain";
    event.commit();
  }

  // ---- parts

  /** Returns null if moves are not recorded. */
  static Object beginMove() {
    if (MOVE == null || !MOVE.isEnabled()) return null;
    var event = new PartitionMoveEvent();
    event.begin();
    return event;
  }

  static void endMove(Object begun, String node, String kind, int part, String happened) {
    if (begun == null) return;
    var event = (PartitionMoveEvent) begun;
    event.end();
    event.node = node;
    event.kind = kind;
    event.part = part;
    event.happened = happened;
    event.commit();
  }

  // ---- leases

  /** Returns null if heartbeats are not recorded. */
  static Object beginSign() {
    if (SIGN == null || !SIGN.isEnabled()) return null;
    var event = new HeartbeatEvent();
    event.begin();
    return event;
  }

  /** A null {@code failure}: it was confirmed. */
  static void endSign(Object begun, String node, Throwable failure) {
    if (begun == null) return;
    var event = (HeartbeatEvent) begun;
    event.end();
    if (!event.shouldCommit()) return;
    event.node = node;
    event.ended = failure == null ? "confirmed" : Lines.message(failure);
    event.commit();
  }

  static void lapse(String node, String why) {
    if (LAPSE == null || !LAPSE.isEnabled()) return;
    var event = new LeaseLapseEvent();
    event.node = node;
    event.why = why;
    event.commit();
  }

  @Name("fibry.FarRequest")
  @Label("Far Request")
  @Description("A request to an actor that may be on another node, from its sending to its end")
  @Category("Fibry")
  @Threshold("20 ms")
  @StackTrace(false)
  private static final class RemoteRequestEvent extends Event {
    @Label("Actor")
    String actor;
    @Label("Message Type")
    @Description("Several messages that nobody waits for go together")
    Class<?> messageType;
    @Label("Sent")
    @Description("How often: again while no node has its key")
    int sent;
    @Label("Ended")
    @Description("Answered, or the class of the failure")
    String ended;
  }

  @Name("fibry.FarPressure")
  @Label("Far Pressure")
  @Description("A sender waited since too much was on its way to another node")
  @Category("Fibry")
  private static final class RemotePressureEvent extends Event {
    @Label("Actor")
    String actor;
    @Label("Happened")
    @Description("Waited, or waited in vain")
    String happened;
  }

  @Category("Fibry")
  @StackTrace(false)
  private abstract static class NodeEvent extends Event {
    @Label("Node")
    String node;
  }

  @Name("fibry.Move")
  @Label("Move")
  @Description("A part of the keys of a kind has come to a node, has left it, or was lost with its lease; "
      + "meanwhile its messages wait")
  private static final class PartitionMoveEvent extends NodeEvent {
    @Label("Kind")
    String kind;
    @Label("Part")
    int part;
    @Label("Happened")
    @Description("Taken, given to another node, or lost")
    String happened;
  }

  @Name("fibry.Sign")
  @Label("Sign of Life")
  @Description("By which a node keeps its lease; five in its time")
  @Threshold("20 ms")
  private static final class HeartbeatEvent extends NodeEvent {
    @Label("Ended")
    @Description("Confirmed, or why not")
    String ended;
  }

  @Name("fibry.Lapse")
  @Label("Lapse")
  @Description("A node took itself for dead; it joins again")
  private static final class LeaseLapseEvent extends NodeEvent {
    @Label("Why")
    String why;
  }
}
