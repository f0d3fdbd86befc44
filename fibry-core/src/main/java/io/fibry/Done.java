package io.fibry;

/**
 * The answer to a request that has no result, as in
 * {@code record Save(String text) implements Request<Save, Done>}. Answers are never null, so a
 * handler answers {@code DONE} when it has handled the request.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="done"}
 */
public enum Done {
  /** The only value. */
  DONE
}
