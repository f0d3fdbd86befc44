package io.fibry.io;

/**
 * A budget of retries. It begins with ten retries, which is also the maximum. Every ten downloads
 * add one retry. Thread-safe.
 */
final class RetryBudget {
  private static final int DOWNLOADS_PER_RETRY = 10;
  private static final int MAX_SAVED_DOWNLOADS = 10 * DOWNLOADS_PER_RETRY;

  private int savedDownloads = MAX_SAVED_DOWNLOADS; // guarded by this

  synchronized void countDownload() {
    savedDownloads = Math.min(MAX_SAVED_DOWNLOADS, savedDownloads + 1);
  }

  synchronized boolean takeRetry() {
    if (savedDownloads < DOWNLOADS_PER_RETRY) return false;
    savedDownloads -= DOWNLOADS_PER_RETRY;
    return true;
  }
}
