"""Operations, one family a file; each record holds an operation's whole meaning."""
