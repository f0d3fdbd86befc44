package io.fibry.nats.connection;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.nats.NatsNetwork.Role;

/** A connected program, and its role. */
public record AppClient(String app, String node, Role role) {
  /** {@return the beginning of the subjects to which JetStream answers} */
  public String inboxPrefix() {
    return ownPrefix(role == Role.ASKER ? Permissions.TO_ASKERS : Permissions.SERVER_REPLIES);
  }

  /** {@return the beginning of the subjects to which other programs answer} */
  public String replyPrefix() {
    return ownPrefix(role == Role.ASKER ? Permissions.TO_ASKERS : Permissions.PROGRAM_REPLIES);
  }

  private String ownPrefix(String category) {
    return "fb." + app + category + node + ".";
  }

  /**
   * {@return whether programs of the app get answers at this subject} An answer is sent to no other
   * subject. Otherwise a caller could name a subject of the server's API, and the answer would be a
   * request to the server, with the permissions of this program.
   */
  public boolean isReplySubject(String subject) {
    String prefix = "fb." + app;
    return subject.startsWith(prefix + Permissions.PROGRAM_REPLIES)
        || subject.startsWith(prefix + Permissions.TO_ASKERS);
  }

  /** {@return the exception for a refusal by the server, with the role that would be permitted} */
  TransportException denied(boolean toSend, String subject) {
    return new TransportException(Failure.DENIED,
        "the server of NATS does not let " + this + (toSend ? " send" : " subscribe")
            + " to " + subject + "; " + Permissions.needed(app, role, toSend, subject));
  }

  /** {@return the exception for an action that the role does not include} */
  public TransportException denied(String action, Role neededRole) {
    return new TransportException(Failure.DENIED, this + " cannot " + action + "; choose the role " + neededRole
        + " by NatsNetwork.withRole, and connect as a NATS user that has NatsNetwork.permissions(\"" + app
        + "\", Role." + neededRole + ")");
  }

  @Override
  public String toString() {
    return "node '" + node + "' of app '" + app + "' with the role " + role;
  }
}
