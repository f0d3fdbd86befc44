package io.fibry.nats.connection;

/**
 * The names of an app's streams, and of the subjects that its programs share. {@link StoreSubjects}
 * has the subjects of its store.
 *
 * @param app the name of the app
 */
public record AppSubjects(String app) {
  public String tableStream() {
    return "KV_" + tableBucket();
  }

  /** {@return the beginning of the subjects of all entries of the table, before the key} */
  public String tablePrefix() {
    return "$KV." + tableBucket() + ".";
  }

  private String tableBucket() {
    return "FB_" + app + "_own";
  }

  public String workStream() {
    return "FB_" + app + "_work";
  }

  /** {@return a filter for the subjects of all queues} */
  public String workFilter() {
    return "fb." + app + ".w.>";
  }

  /** {@return the subject of questions about the table, which askers send} */
  public String directory() {
    return "fb." + app + ".d";
  }

  /** {@return the subject of the purge requests of nodes} */
  public String purges() {
    return "fb." + app + ".k";
  }
}
