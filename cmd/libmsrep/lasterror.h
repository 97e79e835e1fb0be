// The text of the last error, one for each thread.
void keep_last_error(const char *text);
