package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.nats.NatsNetwork.Role;

/** A connected program, and its role. */
record ClientIdentity(String app, String node, Role role) {
  /** {@return the beginning of the subjects to which JetStream answers} */
  String inboxes() {
    return ownSubject(role == Role.ASKER ? Permissions.TO_ASKERS : Permissions.INBOXES);
  }

  /** {@return the beginning of the subjects to which other programs answer} */
  String answers() {
    return ownSubject(role == Role.ASKER ? Permissions.TO_ASKERS : Permissions.ANSWERS);
  }

  private String ownSubject(String place) {
    return "fb." + app + place + node + ".";
  }

  /**
   * {@return whether a program of the app gets answers at this subject} An answer to another
   * subject would be sent with the permissions of this program: a foreign asker could name a call
   * of the server.
   */
  boolean isAnswered(String to) {
    String own = "fb." + app;
    return to.startsWith(own + Permissions.ANSWERS) || to.startsWith(own + Permissions.TO_ASKERS);
  }

  /** {@return a refusal of the server, and the role that it takes} */
  TransportException denied(boolean toSend, String subject) {
    return new TransportException(Failure.DENIED,
        "the server of NATS does not let " + this + (toSend ? " send" : " subscribe")
            + " to " + subject + "; " + Permissions.needed(app, role, toSend, subject));
  }

  /** {@return a refusal of what the role has no use for} */
  TransportException denied(String what, Role needed) {
    return new TransportException(Failure.DENIED, this + " cannot " + what + "; that needs the role " + needed
        + ", by NatsNetwork.withRole, and a user with NatsNetwork.permissions(\"" + app + "\", Role." + needed + ")");
  }

  @Override
  public String toString() {
    return "node '" + node + "' of app '" + app + "' with the role " + role;
  }
}
